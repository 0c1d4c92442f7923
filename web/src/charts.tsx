// Charts over steps: tokens, cost, progress, issues. They share one cursor.

import { useEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import { runPath } from "./api";
import { count, dollars, short, spend } from "./format";
import { useColours, useData } from "./hooks";
import type { Feed } from "./run";
import { steady } from "./steady";
import type { Series, Summary } from "./types";
import { Empty, Failed, Loading } from "./ui";

export const SERIES = "/series?points=400";
const AGAIN_MS = 1_500;
const HEIGHT = 104;

interface Curve {
  label: string;
  values: number[];
  colour: string;
  stepped?: boolean;
  fill?: boolean;
  dash?: number[];
}

interface Drawn {
  title: string;
  now: string;
  words: string;
  curves: Curve[];
  range?: [number, number];
  whole?: boolean;
  show: (value: number) => string;
}

export const Charts = steady(AllCharts);

function AllCharts({ runId, feed, summary }: { runId: string; feed: Feed; summary: Summary }) {
  const { data, error, loading, again } = useData<{ series: Series }>(runPath(runId, SERIES));
  useEffect(() => {
    let timer = 0;
    const unhear = feed.listen(() => {
      timer ||= window.setTimeout(() => {
        timer = 0;
        again();
      }, AGAIN_MS);
    });
    return () => {
      clearTimeout(timer);
      unhear();
    };
  }, [feed, again]);
  const series = data?.series;
  const spent = spend(summary.cost_usd, summary.unpriced_tokens);
  const drawn = useMemo(() => (series ? drawings(series, summary.max_cost_usd, spent) : []), [series, summary.max_cost_usd, spent]);
  const titles = ["Tokens", "Cost", "Progress", "Issues"];
  return (
    <section class="charts" aria-label="Charts over steps">
      {titles.map((title, at) => (
        <figure key={title} class="chart">
          <figcaption>
            <span class="chart-title">{title}</span>
            <span class="chart-now">{series?.steps.length ? drawn[at]!.now : ""}</span>
          </figcaption>
          {error && !series ? (
            <Failed error={error} again={again} />
          ) : loading && !series ? (
            <Loading what="Adding up" />
          ) : !series || series.steps.length < 2 ? (
            <Empty title="Too few steps for a curve">It begins with the agent's second step.</Empty>
          ) : title === "Cost" && !series.cost.some(Boolean) ? (
            summary.unpriced_tokens ? (
              <Empty title="No cost known">Its model has no known price.</Empty>
            ) : (
              <Empty title="Nothing spent">The agent has told of no tokens that cost anything.</Empty>
            )
          ) : title === "Tokens" && !series.tokens.some(Boolean) ? (
            <Empty title="No tokens counted">The agent does not tell how many tokens it uses.</Empty>
          ) : (
            <Plot steps={series.steps} drawn={drawn[at]!} />
          )}
        </figure>
      ))}
    </section>
  );
}

function drawings(series: Series, budget: number | null, known: string): Drawn[] {
  const last = <T,>(values: T[]): T => values[values.length - 1]!;
  if (!series.steps.length) return [];
  const cost: Curve[] = [{ label: "cost", values: series.cost, colour: "--rung-2", fill: true }];
  const spent = last(series.cost);
  if (budget !== null && spent > budget * 0.5) {
    cost.push({ label: "budget", values: series.steps.map(() => budget), colour: "--critical", dash: [4, 4] });
  }
  return [
    {
      title: "Tokens",
      now: short(last(series.tokens)),
      words: `Tokens over steps: ${count(last(series.tokens))} at step ${last(series.steps)}`,
      curves: [{ label: "tokens", values: series.tokens, colour: "--rung-1", fill: true }],
      show: short,
    },
    {
      title: "Cost",
      now: known,
      words: `Cost over steps: ${known} at step ${last(series.steps)}`,
      curves: cost,
      show: dollars,
    },
    {
      title: "Progress",
      now: `${Math.round(last(series.progress) * 100)} %`,
      words: `Progress over steps: ${Math.round(last(series.progress) * 100)} per cent at step ${last(series.steps)}`,
      curves: [{ label: "progress", values: series.progress, colour: "--rung-0", fill: true }],
      range: [0, 1],
      show: (value) => `${Math.round(value * 100)} %`,
    },
    {
      title: "Issues",
      now: `${short(last(series.issues))} found, ${short(last(series.interventions))} answered`,
      words: `Issues over steps: ${last(series.issues)} found, ${last(series.interventions)} answered`,
      curves: [
        { label: "issues", values: series.issues, colour: "--rung-3", stepped: true, fill: true },
        { label: "answered", values: series.interventions, colour: "--accent", stepped: true },
      ],
      whole: true,
      show: short,
    },
  ];
}

function Plot({ steps, drawn }: { steps: number[]; drawn: Drawn }) {
  const box = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const colours = useColours();
  const shape = drawn.curves.map((curve) => curve.label).join();
  const latest = useRef(drawn);
  latest.current = drawn;

  useEffect(() => {
    const holder = box.current!;
    const made = new uPlot(options(latest.current, holder.clientWidth, (u) => point(u, tip.current, latest.current)), table(steps, latest.current), holder);
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: holder.clientWidth, height: HEIGHT }));
    watch.observe(holder);
    return () => {
      watch.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [colours, shape]);
  useEffect(() => plot.current?.setData(table(steps, drawn)), [steps, drawn]);
  return (
    <div class="plot" role="img" aria-label={drawn.words}>
      <div ref={box} class="plot-box" />
      <div ref={tip} class="plot-tip" hidden />
    </div>
  );
}

function table(steps: number[], drawn: Drawn): uPlot.AlignedData {
  return [steps, ...drawn.curves.map((curve) => curve.values)];
}

function point(u: uPlot, tip: HTMLDivElement | null, drawn: Drawn): void {
  if (!tip) return;
  const at = u.cursor.idx;
  tip.hidden = at == null || (u.cursor.left ?? -1) < 0;
  if (at == null) return;
  const values = drawn.curves.map((curve) => `${curve.label} ${drawn.show(curve.values[at] ?? 0)}`);
  tip.textContent = `step ${count(u.data[0][at] ?? 0)}: ${values.join(", ")}`;
}

function options(drawn: Drawn, width: number, onCursor: (u: uPlot) => void): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis: uPlot.Axis = {
    stroke: colour("--dim"),
    font: "11px system-ui, sans-serif",
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
    gap: 4,
  };
  return {
    width,
    height: HEIGHT,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, sync: { key: "steps" }, points: { size: 6 }, drag: { x: false, y: false } },
    scales: { x: { time: false }, y: { range: drawn.range ?? ((_, __, high) => [0, high > 0 ? high * 1.08 : 1]) } },
    axes: [
      { ...axis, size: 20, grid: { show: false }, values: (_, ticks) => ticks.map((tick) => (Number.isInteger(tick) ? short(tick) : "")) },
      { ...axis, size: 42, space: 30, values: (_, ticks) => ticks.map((tick) => (drawn.whole && !Number.isInteger(tick) ? "" : drawn.show(tick))) },
    ],
    series: [
      {},
      ...drawn.curves.map((curve) => ({
        label: curve.label,
        stroke: colour(curve.colour),
        width: 1.75,
        dash: curve.dash,
        fill: curve.fill ? `${colour(curve.colour)}26` : undefined,
        points: { show: false },
        paths: curve.stepped ? uPlot.paths.stepped!({ align: 1 }) : undefined,
      })),
    ],
    hooks: { setCursor: [onCursor] },
  };
}
