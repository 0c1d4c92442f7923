// Addresses: every page has one that can be sent to somebody.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

export type Route =
  | { page: "runs" }
  | { page: "run"; runId: string; tab: string }
  | { page: "incidents" }
  | { page: "incident"; id: string }
  | { page: "nowhere" };

export const TABS = ["timeline", "files", "screens", "details", "output"] as const;

export function readRoute(path: string): Route {
  const parts = path.split("/").filter(Boolean).map(decode);
  if (parts.length === 0) return { page: "runs" };
  if (parts[0] === "runs" && parts[1]) return { page: "run", runId: parts[1], tab: parts[2] ?? "timeline" };
  if (parts[0] === "incidents") return parts[1] ? { page: "incident", id: parts[1] } : { page: "incidents" };
  return { page: "nowhere" };
}

export function runHref(runId: string, tab = ""): string {
  return `/runs/${encodeURIComponent(runId)}${tab && tab !== "timeline" ? `/${tab}` : ""}`;
}

export function incidentHref(id: string): string {
  return `/incidents/${encodeURIComponent(id)}`;
}

export function go(href: string, replace = false): void {
  if (replace) history.replaceState(null, "", href);
  else history.pushState(null, "", href);
  window.dispatchEvent(new PopStateEvent("popstate"));
}

export function useRoute(): Route {
  const [path, setPath] = useState(location.pathname);
  useEffect(() => {
    const look = () => setPath(location.pathname);
    window.addEventListener("popstate", look);
    return () => window.removeEventListener("popstate", look);
  }, []);
  return readRoute(path);
}

/** A part of the page's state that belongs to its address, like the chosen checkpoint. */
export function useQuery(name: string): [string, (value: string, tell?: boolean) => void] {
  const read = () => new URLSearchParams(location.search).get(name) ?? "";
  const [value, setValue] = useState(read);
  useEffect(() => {
    const look = () => setValue(read());
    window.addEventListener("popstate", look);
    return () => window.removeEventListener("popstate", look);
  }, [name]);
  const set = (next: string, tell = false) => {
    const query = new URLSearchParams(location.search);
    if (next) query.set(name, next);
    else query.delete(name);
    const text = query.toString();
    history.replaceState(null, "", location.pathname + (text ? `?${text}` : ""));
    setValue(next);
    // Other parts of the page may show the same.
    if (tell) window.dispatchEvent(new PopStateEvent("popstate"));
  };
  return [value, set];
}

interface LinkProps {
  href: string;
  class?: string;
  "aria-current"?: "page";
  children?: ComponentChildren;
}

export function Link({ href, children, ...rest }: LinkProps) {
  return (
    <a
      {...rest}
      href={href}
      onClick={(event: MouseEvent) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        go(href);
        window.scrollTo(0, 0);
      }}
    >
      {children}
    </a>
  );
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
