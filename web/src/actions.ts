// Sending control messages.

import { asError, post, runPath } from "./api";
import { sayError } from "./ui";

export async function send(
  runId: string,
  command: string,
  payload: Record<string, unknown> = {},
  reason = "",
): Promise<boolean> {
  try {
    await post(runPath(runId, "/control"), { command, payload, reason: reason || null });
    return true;
  } catch (error) {
    sayError(asError(error));
    return false;
  }
}
