// Gemini CLI's own loop detection (its offline rules) over traces: one JSON trace a line in, {"trace_id", "step"} out.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const file = `${process.argv[2]}/node_modules/@google/gemini-cli-core/dist/src/services/loopDetectionService.js`;
const { LoopDetectionService } = await import(pathToFileURL(file).href);

const anything = new Proxy(function () {}, { get: (_, name) => (name === Symbol.toPrimitive ? () => '' : anything), apply: () => undefined });
const config = new Proxy({}, { get: (_, name) => (name === 'getDisableLoopDetection' ? () => false : () => undefined) });

function firstLoop(trace) {
  const service = new LoopDetectionService({ config, geminiClient: anything });
  service.reset('prompt', '');
  for (const step of trace.steps) {
    if (step.role === 'user') service.reset(`prompt-${step.index}`, '');
    if (step.role !== 'assistant') continue;
    const events = [];
    if (step.content) events.push({ type: 'content', value: step.content });
    if (step.tool) events.push({ type: 'tool_call_request', value: { name: step.tool.name, args: step.tool.arguments } });
    for (const event of events) if (service.addAndCheck(event).count > 0) return step.index;
  }
  return null;
}

for await (const line of createInterface({ input: process.stdin })) {
  const trace = JSON.parse(line);
  console.log(JSON.stringify({ trace_id: trace.trace_id, step: firstLoop(trace) }));
}
