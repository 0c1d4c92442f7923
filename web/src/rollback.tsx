// Going back to a checkpoint: first what would change, then whether to, then what came of it.

import { useState } from "preact/hooks";
import { ApiError, asError, post, runPath } from "./api";
import { Way } from "./controls";
import { Changes } from "./files";
import { dateTime, isLive, many } from "./format";
import { useData } from "./hooks";
import type { Checkpoint, Head, Preview, Restored } from "./types";
import { Dialog, Empty, Failed, Loading } from "./ui";

interface Props {
  runId: string;
  checkpoint: Checkpoint;
  head: Head;
  onClose: () => void;
}

type Done = { sent?: { request_id: string }; restored?: Restored };

export function Rollback({ runId, checkpoint, head, onClose }: Props) {
  const path = runPath(runId, `/checkpoints/${encodeURIComponent(checkpoint.id)}/preview`);
  const { data, error, loading, again } = useData<Preview>(path);
  const [done, setDone] = useState<Done | null>(null);
  const [failed, setFailed] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const live = isLive(head.status.shown);
  const control = done?.sent && head.controls.find((each) => each.request_id === done.sent!.request_id);

  const confirm = async () => {
    setBusy(true);
    setFailed(null);
    try {
      setDone(await post<Done>(runPath(runId, "/rollback"), { to: checkpoint.id }));
    } catch (raw) {
      setFailed(asError(raw));
    }
    setBusy(false);
  };

  return (
    <Dialog title={`Go back to checkpoint ${checkpoint.id}`} onClose={onClose} wide>
      {done ? (
        <Outcome done={done} control={control} onClose={onClose} />
      ) : (
        <>
          <p class="prose">
            The files go back to how they were at {dateTime(checkpoint.time)}, before step {checkpoint.step}. The current
            files are saved first: <code>interlock undo</code> reverts the rollback. Only what the run itself changed is touched.
            {live && " The agent is paused meanwhile."}
          </p>
          {error ? (
            <Failed error={error} again={again} />
          ) : loading || !data ? (
            <Loading what="Checking what would change" />
          ) : data.changes.length === 0 ? (
            <Empty title="Nothing would change">The run's files are as they were then.</Empty>
          ) : (
            <>
              <h3>{many(data.changes.length, "path")} would change</h3>
              <Changes changes={data.changes} />
            </>
          )}
          {data && data.left_alone.length > 0 && (
            <>
              <h3>Left alone</h3>
              <ul class="changes">
                {data.left_alone.map((each) => (
                  <li key={each.path} class="change">
                    <span class="mono">{each.path}</span> <span class="dim">{each.reason}</span>
                  </li>
                ))}
              </ul>
            </>
          )}
          {data && data.locks.length > 0 && <p class="warn">A git command seems to be at work: {data.locks.join(", ")}.</p>}
          {failed && <Failed error={failed} />}
          <div class="actions">
            <button type="button" class="button" onClick={onClose}>
              Not now
            </button>
            <button type="button" class="button danger" disabled={!data || data.changes.length === 0 || busy} onClick={() => void confirm()}>
              {busy ? "Going back…" : data ? `Go back: ${many(data.changes.length, "path")} change` : "Go back"}
            </button>
          </div>
        </>
      )}
    </Dialog>
  );
}

function Outcome({ done, control, onClose }: { done: Done; control?: Head["controls"][number]; onClose: () => void }) {
  const restored = done.restored;
  return (
    <>
      {restored ? (
        <>
          <p class="prose">
            <strong>
              {restored.verified === false ? "Rolled back, but not everything is as it should be." : `Rolled back: ${many(restored.changed?.length ?? 0, "path")} changed.`}
            </strong>{" "}
            To revert it: <code>interlock undo</code> (checkpoint {restored.safety_id}).
          </p>
          <Changes changes={restored.changed ?? []} />
        </>
      ) : control ? (
        <Way control={control} full />
      ) : (
        <Loading what="Sent to the run" />
      )}
      <div class="actions">
        <button type="button" class="button primary" onClick={onClose}>
          Close
        </button>
      </div>
    </>
  );
}
