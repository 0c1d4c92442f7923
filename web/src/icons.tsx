// Icons: drawn here, so that nothing is fetched.

const PATHS: Record<string, string> = {
  pause: "M6 4v12M14 4v12",
  play: "M6 4l10 6-10 6z",
  stop: "M5 5h10v10H5z",
  up: "M10 16V4M5 9l5-5 5 5",
  check: "M4 10.5l4 4 8-9",
  cross: "M5 5l10 10M15 5L5 15",
  question: "M7 7a3 3 0 1 1 4.2 2.7c-.8.4-1.2 1-1.2 1.8v.5M10 15.2v.3",
  back: "M8 5L3 10l5 5M3 10h9a5 5 0 0 1 0 10",
  search: "M9 3a6 6 0 1 0 0 12A6 6 0 0 0 9 3zM13.5 13.5L18 18",
  step: "M4 6l4 4-4 4M10 15h6",
  tool: "M4 6l4 4-4 4M10 15h6",
  tool_call: "M4 6l4 4-4 4M10 15h6",
  tool_result: "M16 5v4a3 3 0 0 1-3 3H4M7 9l-3 3 3 3",
  assistant: "M3 5h14v9H9l-4 3v-3H3z",
  user: "M10 3a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM3.5 18c.6-3.6 3-5.5 6.500-5.500s5.900 1.900 6.500 5.500",
  system: "M4 4h12v9H4zM7 17h6M10 13v4",
  review: "M10 2.500l6.500 2.500v5c0 4-2.800 6.600-6.500 7.500-3.700-.9-6.500-3.500-6.500-7.500V5z",
  block: "M10 2.500a7.500 7.500 0 1 0 0 15 7.500 7.500 0 0 0 0-15zM4.700 4.700l10.600 10.600",
  issue: "M10 3l8 14H2zM10 8v4M10 14.300v.2",
  intervention: "M5 2v16M15 2v16M5 6h10M5 10h10M5 14h10",
  checkpoint: "M5 3v15M5 4h10l-2.500 3.500L15 11H5",
  control: "M10 2.500v7M5.500 5a7 7 0 1 0 9 0",
  state: "M10 5v5l3.500 2M10 2.500a7.500 7.500 0 1 0 0 15 7.500 7.500 0 0 0 0-15z",
  limit: "M3 15a7 7 0 1 1 14 0M10 15l3.500-5",
  incident: "M7 2.500h6l4.500 4.500v6L13 17.500H7L2.500 13V7zM10 6.500v4M10 13v.2",
  approval: "M6 9V4.500a1.500 1.500 0 0 1 3 0V9M9 8.500V3.500a1.500 1.500 0 0 1 3 0V9M12 9V5a1.500 1.500 0 0 1 3 0v7a5.500 5.500 0 0 1-10.200 2.700L2.800 11a1.500 1.500 0 0 1 2.500-1.600L6 10.500",
  picture: "M3 4h14v12H3zM3 13l4-4 4 4 2-2 4 3M13 7.500v.1",
  note: "M5 3h7l3 3v11H5zM8 9h4M8 12h4",
  sun: "M10 6.500a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7zM10 2v1.500M10 16.500V18M2 10h1.500M16.500 10H18M4.300 4.300l1.100 1.100M14.600 14.600l1.100 1.100M4.300 15.700l1.100-1.100M14.600 5.400l1.100-1.100",
  moon: "M16 12.500A7 7 0 0 1 7.500 4a7 7 0 1 0 8.500 8.500z",
  auto: "M10 3a7 7 0 1 0 0 14zM10 3a7 7 0 0 1 0 14",
  keyboard: "M2.500 5.500h15v9h-15zM5.500 8.500h.1M8.500 8.500h.1M11.500 8.500h.1M14.500 8.500h.1M6 11.500h8",
  link: "M8 12l4-4M9 5.500l1.500-1.500a3.500 3.500 0 0 1 5 5L14 10.500M11 14.500L9.500 16a3.500 3.500 0 0 1-5-5L6 9.500",
};

export function Icon({ name, label }: { name: string; label?: string }) {
  const path = Object.hasOwn(PATHS, name) ? PATHS[name] : PATHS.note;
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden={label ? undefined : true} role={label ? "img" : undefined} aria-label={label}>
      <path d={path} />
    </svg>
  );
}
