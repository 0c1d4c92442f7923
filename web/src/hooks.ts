// Small hooks: asked data with its three states, the time, keys, the theme.

import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError, asError, get } from "./api";
import type { Feed } from "./run";

export interface Asked<T> {
  data?: T;
  error?: ApiError;
  loading: boolean;
  again: () => void;
}

/** Ask for data; `path` null asks for nothing. What was there stays while it is asked again. */
export function useData<T>(path: string | null): Asked<T> {
  const [state, setState] = useState<{ data?: T; error?: ApiError; path?: string | null }>({});
  const [turn, setTurn] = useState(0);
  const [loading, setLoading] = useState(path !== null);
  useEffect(() => {
    if (path === null) return;
    const stop = new AbortController();
    setLoading(true);
    get<T>(path, stop.signal).then(
      (data) => {
        setState({ data, path });
        setLoading(false);
      },
      (error: unknown) => {
        if (stop.signal.aborted) return;
        setState((before) => ({ data: before.path === path ? before.data : undefined, error: asError(error), path }));
        setLoading(false);
      },
    );
    return () => stop.abort();
  }, [path, turn]);
  const again = useCallback(() => setTurn((n) => n + 1), []);
  const fresh = state.path === path;
  return { data: fresh ? state.data : undefined, error: fresh ? state.error : undefined, loading, again };
}

/** Call `again` for new lines of a run, at most once in so many milliseconds. */
export function useFeed(feed: Feed, again: () => void, everyMs: number): void {
  useEffect(() => {
    let timer = 0;
    const unhear = feed.listen(() => {
      timer ||= window.setTimeout(() => {
        timer = 0;
        again();
      }, everyMs);
    });
    return () => {
      clearTimeout(timer);
      unhear();
    };
  }, [feed, again, everyMs]);
}

/** The time in seconds, anew every so many milliseconds. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now() / 1000);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now() / 1000), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

export type Keys = Record<string, () => void>;

/** Keys of a page; silent while somebody types or a dialog is open. */
export function useKeys(keys: Keys): void {
  const current = useRef(keys);
  current.current = keys;
  // Before the page is painted: whoever sees a button can press its key.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return;
      const target = event.target as HTMLElement;
      if (target.closest("input, textarea, select, [contenteditable], dialog")) return;
      if (document.querySelector("dialog[open]")) return;
      // A focused button or link has its own Enter and space.
      if ((event.key === "Enter" || event.key === " ") && target.closest("a, button, summary")) return;
      const act = current.current[event.key];
      if (act) {
        event.preventDefault();
        act();
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}

export type Theme = "auto" | "light" | "dark";
const THEME = "interlock-theme";

export function readTheme(): Theme {
  try {
    const kept = localStorage.getItem(THEME);
    return kept === "light" || kept === "dark" ? kept : "auto";
  } catch {
    return "auto";
  }
}

export function applyTheme(theme: Theme): void {
  const root = document.documentElement;
  if (theme === "auto") delete root.dataset.theme;
  else root.dataset.theme = theme;
  try {
    localStorage.setItem(THEME, theme);
  } catch {
    // Without storage it lasts as long as the page.
  }
}

export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${title} · Interlock` : "Interlock";
  }, [title]);
}
