// A sparkline: progress over the newest steps, from no way forward (bottom) to all forward (top).

const WIDTH = 96;
const HEIGHT = 24;

export function Spark({ values }: { values: number[] }) {
  if (values.length < 2) return <span class="dim spark-none">no steps</span>;
  const last = values.length - 1;
  const points = values.map((value, at) => {
    const x = (at / last) * WIDTH;
    const y = HEIGHT - 2 - Math.max(0, Math.min(1, value)) * (HEIGHT - 4);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  const now = values[last]!;
  const level = now < 0.4 ? "bad" : now < 0.75 ? "fair" : "good";
  const words = `${Math.round(now * 100)} per cent of the newest calls got further`;
  return (
    <svg class={`spark spark-${level}`} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={words}>
      <title>{words}</title>
      <polygon points={`0,${HEIGHT} ${points.join(" ")} ${WIDTH},${HEIGHT}`} />
      <polyline points={points.join(" ")} />
    </svg>
  );
}
