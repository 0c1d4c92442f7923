// Output: the end of what the run's command printed.

import { useEffect, useRef } from "preact/hooks";
import { runPath } from "./api";
import { useData } from "./hooks";
import { Card, Empty, Failed, Loading } from "./ui";

const AGAIN_MS = 2_000;

export function Output({ runId, live }: { runId: string; live: boolean }) {
  const { data, error, loading, again } = useData<{ text: string; cut: boolean }>(runPath(runId, "/output"));
  const box = useRef<HTMLPreElement>(null);
  const atEnd = useRef(true);
  useEffect(() => {
    if (!live) return;
    const timer = window.setInterval(again, AGAIN_MS);
    return () => clearInterval(timer);
  }, [live, again]);
  useEffect(() => {
    if (box.current && atEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [data?.text]);
  const follow = () => {
    const seen = box.current!;
    atEnd.current = seen.scrollHeight - seen.scrollTop - seen.clientHeight < 40;
  };
  return (
    <Card title="Output" aside={data?.cut && <span class="dim">last lines; interlock logs shows all</span>}>
      {error ? (
        <Failed error={error} again={again} />
      ) : loading && !data ? (
        <Loading what="Reading the output" />
      ) : !data?.text ? (
        <Empty title="No output">The command printed nothing, or Interlock did not start it.</Empty>
      ) : (
        <pre class="output" ref={box} onScroll={follow} tabIndex={0} aria-label="Output of the command">
          {data.text}
        </pre>
      )}
    </Card>
  );
}
