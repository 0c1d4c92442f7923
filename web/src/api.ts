// Asking the server: JSON in and out, and errors that say what to do.

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly todo: string,
  ) {
    super(message);
  }
}

const early = new Map<string, Promise<unknown>>();

/** Ask for what will be wanted in a moment; the next `get` of the same path takes it. */
export function prefetch(path: string): void {
  const asked = ask(path, {});
  asked.catch(() => {});
  early.set(path, asked);
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const asked = early.get(path) as Promise<T> | undefined;
  early.delete(path);
  return asked ?? ask<T>(path, { signal });
}

export async function post<T>(path: string, body: unknown): Promise<T> {
  return ask<T>(path, {
    method: "POST",
    headers: { "content-type": "application/json", "x-interlock": "1" },
    body: JSON.stringify(body),
  });
}

export function runPath(runId: string, rest = ""): string {
  return `/api/runs/${encodeURIComponent(runId)}${rest}`;
}

async function ask<T>(path: string, init: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...init });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "the dashboard's server does not respond", "Is interlock web still running?");
  }
  const text = await response.text();
  let body: unknown = null;
  try {
    body = text ? JSON.parse(text) : null;
  } catch {
    throw new ApiError(response.status, "the server's response is not JSON", "");
  }
  if (response.ok) return body as T;
  if (response.status === 401) window.dispatchEvent(new Event("interlock-locked"));
  const said = (body ?? {}) as { error?: string; todo?: string };
  throw new ApiError(response.status, said.error ?? `the server answered ${response.status}`, said.todo ?? "");
}

export function asError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(0, String(error), "");
}
