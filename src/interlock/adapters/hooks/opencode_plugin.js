// Interlock's plugin for opencode: every tool call is told to the supervisor and waits for its answer.
// One JSON line in, one out, over a unix socket; empty lines say that the answer will come (see exchange.py).
// Without a word for DEADLINE_MS the gate file decides: shut waits, open goes on, or refuses where that is configured.

import { readFileSync } from "node:fs"
import { createConnection } from "node:net"

const DEADLINE_MS = 10_000
const LOOK_MS = 100

const SERVE = ""
const GATES = ""
// Filled in where the plugin is installed for good: the resident supervisor's socket and its folder of gates.

const socketPath = process.env.INTERLOCK_SOCKET || SERVE
const failsClosed = process.env.INTERLOCK_FAIL === "closed"

const pause = (ms) => new Promise((done) => setTimeout(done, ms))

function isShut(session) {
  const gatePath = process.env.INTERLOCK_GATE || (GATES && session ? `${GATES}/${session}` : "")
  if (!gatePath) return false
  try {
    return !readFileSync(gatePath, "utf8").includes('"shut":false')
  } catch (error) {
    return error.code !== "ENOENT"
  }
}

// A connection that is open before it is needed: opencode may end right after an event, and what is written to an open
// one is sent at once.
let spare = null

function keepSpare() {
  if (!socketPath || spare) return
  const socket = createConnection(socketPath)
  const drop = () => {
    if (spare?.socket === socket) spare = null
    socket.destroy()
  }
  socket.on("connect", () => {
    if (spare) drop()
    else spare = { socket, drop }
  })
  socket.on("error", drop)
  socket.on("close", drop)
  socket.unref()
}

function converse(line) {
  return new Promise((resolve, reject) => {
    const ready = spare
    spare = null
    const socket = ready?.socket || createConnection(socketPath)
    if (ready) {
      socket.off("error", ready.drop)
      socket.off("close", ready.drop)
      socket.ref()
    }
    let received = ""
    const end = (settle, value) => {
      clearTimeout(timer)
      socket.destroy()
      settle(value)
    }
    const silent = () => end(reject, new Error("silent"))
    let timer = setTimeout(silent, DEADLINE_MS)
    if (ready) socket.write(line)
    else socket.on("connect", () => socket.write(line))
    keepSpare()
    socket.on("error", () => end(reject, new Error("nobody")))
    socket.on("close", () => end(reject, new Error("lost")))
    socket.on("data", (data) => {
      clearTimeout(timer)
      timer = setTimeout(silent, DEADLINE_MS)
      received += data
      const lines = received.split("\n")
      received = lines.pop()
      const answer = lines.find((one) => one)
      if (answer) end(resolve, JSON.parse(answer))
    })
  })
}

async function tell(event, payload) {
  const told = { hook_event_name: event, cwd: process.cwd(), ...payload }
  const line = JSON.stringify({ hook: { client: "opencode", payload: told } }) + "\n"
  let until = Date.now() + DEADLINE_MS
  while (socketPath) {
    try {
      const answer = await converse(line)
      if (!answer.error) return answer
      break
    } catch (error) {
      if (isShut(payload.root)) until = Date.now() + DEADLINE_MS
      else if (error.message !== "lost" || Date.now() > until) break
    }
    await pause(LOOK_MS)
  }
  const reason = "Nobody supervises this step, and this run is configured to fail closed."
  return { action: failsClosed && socketPath ? "deny" : "proceed", reason }
}

export const Interlock = async ({ client }) => {
  const roots = new Map()
  const models = new Map()
  const asked = new Map()
  const texts = new Map()
  keepSpare()

  const of = (session) => ({ session, root: roots.get(session) || session, model: models.get(session) || "" })

  const act = async (session, answer) => {
    if (answer.action === "stop") {
      client.session.abort({ path: { id: session } }).catch(() => {})
    }
  }

  return {
    event: async ({ event }) => {
      const said = event.properties || {}
      if (event.type === "session.created" && said.info) {
        roots.set(said.info.id, roots.get(said.info.parentID) || said.info.parentID || said.info.id)
        await tell("session", of(said.info.id))
      } else if (event.type === "message.updated" && said.info?.role === "assistant") {
        models.set(said.info.sessionID, said.info.modelID || "")
      } else if (event.type === "message.part.updated" && said.part?.type === "text" && !said.part.synthetic) {
        const { messageID, id, text } = said.part
        if (!texts.has(messageID)) texts.set(messageID, new Map())
        texts.get(messageID).set(id, text)
      } else if (event.type === "message.part.updated" && said.part?.type === "step-finish") {
        const { sessionID, messageID, tokens } = said.part
        const text = [...(texts.get(messageID)?.values() || [])].join("\n")
        texts.delete(messageID)
        const answer = await tell("step.finished", { ...of(sessionID), tokens, text })
        await act(sessionID, answer)
      } else if (event.type === "message.part.updated" && said.part?.type === "tool" && said.part.state?.status === "error") {
        const { sessionID, callID, tool, state } = said.part
        if (asked.get(callID) === "refused") return
        await tell("tool.failed", { ...of(sessionID), tool, call: callID, arguments: state.input, output: state.error })
      } else if (event.type === "session.status" && said.status?.type === "retry") {
        const seconds = said.status.next ? (said.status.next - Date.now()) / 1000 : undefined
        await tell("session.retry", { ...of(said.sessionID), text: said.status.message || "", seconds })
      } else if (event.type === "session.idle") {
        const answer = await tell("session.idle", of(said.sessionID))
        if (answer.action === "deny" && answer.reason) {
          await client.session.promptAsync({ path: { id: said.sessionID }, body: { parts: [{ type: "text", text: answer.reason }] } })
        }
      }
    },
    "chat.message": async (input, output) => {
      const words = (output.parts || []).filter((part) => part.type === "text" && !part.synthetic)
      await tell("chat.message", { ...of(input.sessionID), text: words.map((part) => part.text).join("\n") })
    },
    "tool.execute.before": async (input, output) => {
      const { sessionID, callID, tool } = input
      const call = { ...of(sessionID), tool, call: callID, arguments: output.args }
      const answer = await tell("tool.execute.before", call)
      await act(sessionID, answer)
      if (["deny", "stop", "defer"].includes(answer.action)) {
        asked.set(callID, "refused")
        throw new Error(answer.reason || "Interlock does not let this call run.")
      }
      asked.set(callID, "let")
      if (answer.action === "rewrite") Object.assign(output.args, answer.arguments)
    },
    "tool.execute.after": async (input, output) => {
      const { sessionID, callID, tool } = input
      const result = { ...of(sessionID), tool, call: callID, arguments: input.args || {}, output: output.output || "" }
      if (Number.isInteger(output.metadata?.exit)) result.exit = output.metadata.exit
      const answer = await tell("tool.execute.after", result)
      if (answer.text) output.output = `${output.output || ""}\n\n${answer.text}`
      await act(sessionID, answer)
    },
  }
}
