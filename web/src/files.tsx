// Files: the checkpoints of a run, what each changed, and going back with a preview.

import { useMemo, useState } from "preact/hooks";
import { runPath } from "./api";
import { clock, count, dateTime, many, size } from "./format";
import { useData } from "./hooks";
import { Icon } from "./icons";
import { Rollback } from "./rollback";
import { useQuery } from "./router";
import type { Change, Checkpoint, Difference, Head } from "./types";
import { Card, Empty, Failed, Loading, safe } from "./ui";

const AGAINST = [
  ["before", "what it changed"],
  ["after", "what came next"],
  ["now", "against now"],
] as const;

export function Files({ runId, head }: { runId: string; head: Head }) {
  const [chosen, choose] = useQuery("checkpoint");
  const [back, setBack] = useState<Checkpoint | null>(null);
  const list = useMemo(() => [...head.checkpoints].reverse(), [head.checkpoints]);
  const first = head.start ?? list[list.length - 1];
  const current = list.find((each) => each.id === chosen) ?? first;
  const whole = current !== undefined && current.id !== chosen;
  if (!head.summary.workspace) {
    return (
      <Card title="Files">
        <Empty title="This run has no workspace">
          Only runs that work in a folder have checkpoints. <code>interlock run</code> keeps them unless{" "}
          <code>--no-checkpoints</code> is given.
        </Empty>
      </Card>
    );
  }
  if (!current) {
    return (
      <Card title="Files">
        <Empty title="No checkpoint yet">The first one is made before the agent's first step.</Empty>
      </Card>
    );
  }
  return (
    <div class="files">
      <Card
        title="Checkpoints"
        class="checkpoints-card"
        aside={<span class="dim">{count(head.counts.checkpoint ?? list.length)}</span>}
      >
        <ol class="checkpoints">
          <li>
            <button type="button" class="checkpoint" aria-pressed={whole} onClick={() => choose("")}>
              <span class="checkpoint-whole">The whole run</span>
              <span class="checkpoint-why">everything that changed since its start</span>
            </button>
          </li>
          {list.map((each, at) => (
            <li key={each.id}>
              <button type="button" class="checkpoint" aria-pressed={!whole && each.id === current.id} onClick={() => choose(each.id)}>
                <span class="mono checkpoint-id">{each.id}</span>
                <span class="checkpoint-step">step {count(each.step)}</span>
                <time title={dateTime(each.time)}>{clock(each.time)}</time>
                <span class="checkpoint-why">
                  {each.label || each.cause || "checkpoint"}
                  {growth(each, list[at + 1])}
                </span>
              </button>
            </li>
          ))}
        </ol>
        {(head.counts.checkpoint ?? 0) > list.length && <p class="dim pad">The newest {list.length} are shown.</p>}
      </Card>
      <Diff
        key={whole ? "whole" : current.id}
        runId={runId}
        checkpoint={current}
        first={current.id === first?.id}
        whole={whole}
        onBack={() => setBack(current)}
      />
      {back && <Rollback runId={runId} checkpoint={back} head={head} onClose={() => setBack(null)} />}
    </div>
  );
}

/** How much the files grew or shrank since the checkpoint before; a change of equal length is only in the diff. */
function growth(now: Checkpoint, before: Checkpoint | undefined): string {
  const gap = before ? now.bytes - before.bytes : 0;
  return gap ? `, ${gap > 0 ? "+" : "−"}${size(Math.abs(gap))}` : "";
}

function Diff(props: { runId: string; checkpoint: Checkpoint; first: boolean; whole: boolean; onBack: () => void }) {
  const { runId, checkpoint } = props;
  const [against, setAgainst] = useState<string>(props.first ? "now" : "before");
  const { data, error, loading, again } = useData<Difference>(
    runPath(runId, `/checkpoints/${encodeURIComponent(checkpoint.id)}/diff?against=${against}`),
  );
  return (
    <Card
      title={props.whole ? "The whole run" : `Checkpoint ${checkpoint.id}`}
      class="diff-card"
      aside={
        <button type="button" class="button small" onClick={props.onBack}>
          <Icon name="back" /> {props.whole ? "Undo the whole run…" : "Go back to it…"}
        </button>
      }
    >
      <p class="dim pad">
        {dateTime(checkpoint.time)}, before step {count(checkpoint.step)}: {many(checkpoint.files, "file")}, {size(checkpoint.bytes)}
        {checkpoint.not_covered ? `; ${many(checkpoint.not_covered, "path is", "paths are")} not covered` : ""}
      </p>
      {!props.whole && (
        <div class="segments pad" role="group" aria-label="Compare">
          {AGAINST.filter(([key]) => key !== "before" || !props.first).map(([key, words]) => (
            <button type="button" key={key} class="segment" aria-pressed={against === key} onClick={() => setAgainst(key)}>
              {words}
            </button>
          ))}
        </div>
      )}
      {data && against === "now" && (
        <button type="button" class="text-button look-again" disabled={loading} onClick={again}>
          {loading ? "Looking…" : "Look again"}
        </button>
      )}
      {error ? (
        <Failed error={error} again={again} />
      ) : !data ? (
        <Loading what="Comparing the files" />
      ) : data.total === 0 ? (
        <Empty title="No difference">{against === "now" ? "The files are as they were then." : "Nothing changed between the two checkpoints."}</Empty>
      ) : (
        <Patch difference={data} />
      )}
    </Card>
  );
}

const SIGNS: Record<string, string> = { created: "+", deleted: "−", content: "~", type: "!", mode: "m", attributes: "m" };

export function Changes({ changes }: { changes: Change[] }) {
  return (
    <ul class="changes">
      {changes.map((change) => (
        <li key={change.path} class={`change change-${safe(change.kind)}`}>
          <span class="change-sign" title={change.kind}>
            {SIGNS[change.kind] ?? "~"}
          </span>
          <span class="mono">{change.path}</span>
          <span class="dim">{change.kind === "content" ? "changed" : change.kind}</span>
        </li>
      ))}
    </ul>
  );
}

function Patch({ difference }: { difference: Difference }) {
  const files = useMemo(() => split(difference.patch), [difference.patch]);
  return (
    <>
      <p class="dim pad">
        {many(difference.total, "path")} changed{difference.cut ? "; only the beginning is shown, see interlock checkpoint diff for the rest" : ""}
      </p>
      {files.length ? (
        files.map((file) => <FilePatch key={file.path} file={file} />)
      ) : (
        <Changes changes={difference.changes} />
      )}
    </>
  );
}

interface FileText {
  path: string;
  lines: string[];
  added: number;
  removed: number;
}

function FilePatch({ file }: { file: FileText }) {
  const [open, setOpen] = useState(file.lines.length < 400);
  return (
    <details class="file" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="mono file-path">{file.path}</span>
        {file.added + file.removed > 0 && (
          <span class="file-count">
            <span class="added">+{file.added}</span> <span class="removed">−{file.removed}</span>
          </span>
        )}
      </summary>
      {open && (
        <pre class="patch" tabIndex={0}>
          {file.lines.map((line, at) => (
            <span key={at} class={`patch-line ${lineClass(line)}`}>
              {line || " "}
              {"\n"}
            </span>
          ))}
        </pre>
      )}
    </details>
  );
}

function split(patch: string): FileText[] {
  const files: FileText[] = [];
  for (const part of patch.split(/^diff --interlock /m).slice(1)) {
    const all = part.replace(/\n$/, "").split("\n");
    const path = (all[0] ?? "").replace(/^a\/(.*) b\/\1$/, "$1");
    const lines = all.slice(1).filter((line) => !/^(---|\+\+\+) /.test(line));
    files.push({
      path,
      lines,
      added: lines.filter((line) => line.startsWith("+")).length,
      removed: lines.filter((line) => line.startsWith("-")).length,
    });
  }
  return files;
}

function lineClass(line: string): string {
  if (line.startsWith("+")) return "patch-add";
  if (line.startsWith("-")) return "patch-del";
  if (line.startsWith("@@")) return "patch-hunk";
  return /^(new|deleted|old) /.test(line) ? "patch-note" : "";
}
