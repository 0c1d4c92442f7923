// Screens: what a GUI session looked like.

import { useState } from "preact/hooks";
import { runPath } from "./api";
import { clock, dateTime, many } from "./format";
import { useData, useFeed } from "./hooks";
import type { Feed } from "./run";
import type { Picture } from "./types";
import { Card, Dialog, Empty, Failed, Loading } from "./ui";

const AGAIN_MS = 3_000;

export function Screens({ runId, feed }: { runId: string; feed: Feed }) {
  const { data, error, loading, again } = useData<{ pictures: Picture[] }>(runPath(runId, "/pictures"));
  const [at, setAt] = useState<number | null>(null);
  useFeed(feed, again, AGAIN_MS);
  const pictures = [...(data?.pictures ?? [])].reverse();
  const src = (picture: Picture) => runPath(runId, `/pictures/${encodeURIComponent(picture.name)}`);
  return (
    <Card title="Screens" aside={pictures.length > 0 && <span class="dim">{many(pictures.length, "picture")}, newest first</span>}>
      {error ? (
        <Failed error={error} again={again} />
      ) : loading && !data ? (
        <Loading what="Looking for pictures" />
      ) : pictures.length === 0 ? (
        <Empty title="No pictures">
          Only GUI sessions have them: <code>interlock gui replay</code> and <code>interlock gui watch</code> keep a picture of each step.
        </Empty>
      ) : (
        <ul class="screens">
          {pictures.map((picture, index) => (
            <li key={picture.name}>
              <button type="button" class="screen" onClick={() => setAt(index)}>
                <img src={src(picture)} alt={`Screen at ${dateTime(picture.time)}`} loading="lazy" />
                <span class="dim">{clock(picture.time)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {at !== null && pictures[at] && (
        <Large pictures={pictures} at={at} src={src} move={setAt} onClose={() => setAt(null)} />
      )}
    </Card>
  );
}

interface LargeProps {
  pictures: Picture[];
  at: number;
  src: (picture: Picture) => string;
  move: (at: number) => void;
  onClose: () => void;
}

function Large({ pictures, at, src, move, onClose }: LargeProps) {
  const picture = pictures[at]!;
  const later = () => move(Math.max(0, at - 1));
  const earlier = () => move(Math.min(pictures.length - 1, at + 1));
  return (
    <Dialog title={`${dateTime(picture.time)} (${pictures.length - at} of ${pictures.length})`} onClose={onClose} wide>
      <div
        class="large"
        onKeyDown={(event) => {
          if (event.key === "ArrowLeft") earlier();
          if (event.key === "ArrowRight") later();
        }}
      >
        <img src={src(picture)} alt={`Screen at ${dateTime(picture.time)}`} />
        <div class="actions">
          <button type="button" class="button" autofocus onClick={earlier} disabled={at === pictures.length - 1}>
            ← Earlier
          </button>
          <button type="button" class="button" onClick={later} disabled={at === 0}>
            Later →
          </button>
        </div>
      </div>
    </Dialog>
  );
}
