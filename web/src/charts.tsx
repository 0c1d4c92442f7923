// Charts over steps: tokens, cost, progress, issues. They share one cursor, and a slider that leads the timeline.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { runPath } from "./api";
import { count, dollars, short, spend } from "./format";
import { useData, useFeed } from "./hooks";
import { useQuery } from "./router";
import type { Feed } from "./run";
import { steady } from "./steady";
import type { Series, Summary } from "./types";
import { Failed, Loading } from "./ui";

export const SERIES = "/series?points=400";
const AGAIN_MS = 1_500;
const HEIGHT = 104;
const LEFT = 44;
const RIGHT = 8;
const TOP = 8;
const BOTTOM = 20;

interface Curve {
  label: string;
  values: number[];
  colour: string;
  stepped?: boolean;
  fill?: boolean;
  dashed?: boolean;
}

interface Drawn {
  title: string;
  now: string;
  curves: Curve[];
  high?: number;
  whole?: boolean;
  /** Each curve by its name and colour instead of `now`. */
  legend?: boolean;
  show: (value: number) => string;
}

export const Charts = steady(AllCharts);

function AllCharts({ runId, feed, summary }: { runId: string; feed: Feed; summary: Summary }) {
  const { data, error, loading, again } = useData<{ series: Series }>(runPath(runId, SERIES));
  const [step, setStep] = useQuery("step");
  const [over, setOver] = useState<number | null>(null);
  const slider = useRef<HTMLInputElement>(null);
  useFeed(feed, again, AGAIN_MS);
  const series = data?.series;
  const spent = spend(summary.cost_usd, summary.unpriced_tokens);
  const drawn = useMemo(() => (series ? drawings(series, summary.max_cost_usd, spent) : []), [series, summary.max_cost_usd, spent]);
  const last = (series?.steps.length ?? 0) - 1;
  const chosen = series && step ? nearest(series.steps, Number(step)) : null;
  // Set last: a value above the old maximum would be cut to it.
  useEffect(() => {
    if (slider.current) slider.current.value = String(over ?? chosen ?? last);
  });
  if (error && !series) return <Failed error={error} again={again} />;
  if (loading && !series) return <Loading what="Reading the charts" />;
  // A run of one step has no curves; what was never counted has none either.
  if (!series || series.steps.length < 2) return null;
  const at = over ?? chosen;
  const choose = (index: number) => setStep(index >= last ? "" : String(series.steps[index]), true);
  return (
    <section class="charts" aria-label="Charts over steps" style={{ "--charts": drawn.length }}>
      {drawn.map((each) => (
        <figure key={each.title} class="chart">
          <figcaption>
            <span class="chart-title">{each.title}</span>
            <span class="chart-now">
              {each.legend
                ? each.curves.map((curve) => (
                    <span key={curve.label} class="chart-key" style={{ "--curve": `var(${curve.colour})` }}>
                      {each.show(curve.values[at ?? last] ?? 0)} {curve.label}
                    </span>
                  ))
                : at === null
                  ? each.now
                  : each.curves.map((curve) => each.show(curve.values[at] ?? 0)).join(" / ")}
            </span>
          </figcaption>
          <Plot steps={series.steps} drawn={each} at={at} onOver={setOver} onChoose={choose} />
        </figure>
      ))}
      <label class="scrub">
        <span>
          Step {count(series.steps[at ?? last]!)}
          {(at ?? last) === last && " (newest)"}
        </span>
        <input
          ref={slider}
          type="range"
          min={0}
          max={last}
          aria-valuetext={`step ${series.steps[at ?? last]}`}
          onInput={(event) => setOver(Number(event.currentTarget.value))}
          onChange={(event) => {
            choose(Number(event.currentTarget.value));
            setOver(null);
          }}
        />
      </label>
    </section>
  );
}

function drawings(series: Series, budget: number | null, known: string): Drawn[] {
  const last = <T,>(values: T[]): T => values[values.length - 1]!;
  const cost: Curve[] = [{ label: "cost", values: series.cost, colour: "--rung-2", fill: true }];
  if (budget !== null && last(series.cost) > budget * 0.5) {
    cost.push({ label: "budget", values: series.steps.map(() => budget), colour: "--critical", dashed: true });
  }
  const found: Drawn[] = [];
  if (last(series.tokens)) {
    found.push({ title: "Tokens", now: short(last(series.tokens)), curves: [{ label: "tokens", values: series.tokens, colour: "--rung-1", fill: true }], show: short });
  }
  if (last(series.cost)) found.push({ title: "Cost", now: known, curves: cost, show: dollars });
  found.push({
    title: "Useful calls",
    now: percent(last(series.progress)),
    curves: [{ label: "progress", values: series.progress, colour: "--rung-0", fill: true }],
    high: 1,
    show: percent,
  });
  if (last(series.issues)) {
    found.push({
      title: "Issues",
      now: short(last(series.issues)),
      legend: true,
      curves: [
        { label: "found", values: series.issues, colour: "--rung-3", stepped: true, fill: true },
        { label: "answered", values: series.interventions, colour: "--accent", stepped: true },
      ],
      whole: true,
      show: short,
    });
  }
  return found;
}

interface PlotProps {
  steps: number[];
  drawn: Drawn;
  at: number | null;
  onOver: (index: number | null) => void;
  onChoose: (index: number) => void;
}

function Plot({ steps, drawn, at, onOver, onChoose }: PlotProps) {
  const box = useRef<SVGSVGElement>(null);
  const [width, setWidth] = useState(220);
  useEffect(() => {
    const holder = box.current!;
    const watch = new ResizeObserver(() => setWidth(holder.clientWidth || 220));
    watch.observe(holder);
    return () => watch.disconnect();
  }, []);
  const first = steps[0]!;
  const range = steps[steps.length - 1]! - first || 1;
  const most = Math.max(...drawn.curves.flatMap((curve) => curve.values));
  const high = drawn.high ?? (most > 0 ? most * 1.08 : 1);
  const x = (step: number) => LEFT + ((step - first) / range) * (width - LEFT - RIGHT);
  const y = (value: number) => TOP + (1 - Math.min(value, high) / high) * (HEIGHT - TOP - BOTTOM);
  const line = (curve: Curve) =>
    curve.values.map((value, index) => `${index ? (curve.stepped ? `H${x(steps[index]!).toFixed(1)}V` : `L${x(steps[index]!).toFixed(1)} `) : `M${x(first)} `}${y(value).toFixed(1)}`).join("");
  const shapes = useMemo(() => drawn.curves.map(line), [steps, drawn, width]);
  const index = (event: PointerEvent | MouseEvent) => {
    const left = box.current!.getBoundingClientRect().left;
    return nearest(steps, first + ((event.clientX - left - LEFT) / (width - LEFT - RIGHT)) * range);
  };
  const words = drawn.curves.map((curve) => `${curve.label} ${drawn.show(curve.values[curve.values.length - 1] ?? 0)}`).join(", ");
  return (
    <svg
      ref={box}
      class="plot"
      height={HEIGHT}
      role="img"
      aria-label={`${drawn.title} over steps, at step ${steps[steps.length - 1]}: ${words}`}
      onPointerMove={(event) => onOver(index(event))}
      onPointerLeave={() => onOver(null)}
      onClick={(event) => onChoose(index(event))}
    >
      {ticks(high, drawn.whole ? 1 : 0).map((tick) => (
        <g key={tick}>
          <line class="plot-grid" x1={LEFT} x2={width - RIGHT} y1={y(tick)} y2={y(tick)} />
          <text x={LEFT - 5} y={y(tick) + 4} text-anchor="end">
            {drawn.show(tick)}
          </text>
        </g>
      ))}
      {ticks(range, 1).map((tick) => (
        <text key={tick} x={x(first + tick)} y={HEIGHT - 4} text-anchor="middle">
          {short(first + tick)}
        </text>
      ))}
      {drawn.curves.map((curve, number) => (
        <g key={curve.label} style={{ "--curve": `var(${curve.colour})` }}>
          {curve.fill && <path class="plot-fill" d={`${shapes[number]}V${y(0)}H${x(first)}Z`} />}
          <path class={`plot-line${curve.dashed ? " dashed" : ""}`} d={shapes[number]} />
          {at !== null && <circle class="plot-point" cx={x(steps[at]!)} cy={y(curve.values[at] ?? 0)} r={3} />}
        </g>
      ))}
      {at !== null && <line class="plot-cursor" x1={x(steps[at]!)} x2={x(steps[at]!)} y1={TOP} y2={HEIGHT - BOTTOM} />}
    </svg>
  );
}

const percent = (value: number): string => `${Math.round(value * 100)}%`;

/** Two to four round values from 0 up to a number. */
function ticks(high: number, least: number): number[] {
  const rough = high / 2.5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const by = Math.max(least, ([1, 2, 2.5, 5, 10].find((each) => each * power >= rough) ?? 10) * power);
  return Array.from({ length: Math.floor(high / by + 1e-9) + 1 }, (_, index) => index * by);
}

/** Where in a rising list a number is. */
function nearest(steps: number[], wanted: number): number {
  const above = steps.findIndex((step) => step >= wanted);
  if (above < 0) return steps.length - 1;
  return above > 0 && wanted - steps[above - 1]! < steps[above]! - wanted ? above - 1 : above;
}
