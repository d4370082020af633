import type { IncomingMessage, ServerResponse } from 'node:http';
import { batchEnvelope, envelope, failure } from './answer.js';
import { applyResultFault } from './apply-result-fault.js';
import { type FaultKind, type FaultRule, type FaultScript, TRANSPORT_FAULTS } from './faults.js';
import { prepareCall, type RpcCall } from './methods.js';
import type { NodeState } from './node-state.js';
import type { Line, Timers } from './pacer.js';
import { sendText } from './send-text.js';
import type { ServedText } from './served-chain.js';
import type { Statistics } from './statistics.js';

/** The context of an answer. */
interface AnsweringParts {
  state: NodeState;
  faults: FaultScript;
  timers: Timers;
  statistics: Statistics;
  line: Line | undefined;
  withinRate: () => boolean;
  latencyMs: number;
  maxBatch: number;
  observe: (call: ObservedCall) => void;
}

/** A call as it came in. */
export interface ObservedCall {
  method: string;
  params: readonly unknown[];
  /** The number of the block that it is about, where it is about one. */
  block: number | undefined;
  /** The path of the address that was asked: tells clients apart that were given different ones. */
  path: string;
  /** The fault of its answer. */
  faults: readonly FaultKind[];
}

interface Prepared {
  text: ServedText;
  /** The fault of the whole HTTP answer. */
  transport: FaultRule[];
}

/** geth's own limit (rpc/http.go). */
const MAX_REQUEST_BYTES = 5 * 1024 * 1024;
const HTML =
  '<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>Bad Gateway</body></html>';

/** Makes the function that answers HTTP requests. */
export function createAnswering(
  parts: AnsweringParts,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const { statistics } = parts;
  return async (request, response) => {
    statistics.begin();
    response.once('close', () => statistics.end());
    const refused = refusal(request);
    if (refused !== undefined) return refuse(response, ...refused);
    const body = await readBody(request);
    if (body === undefined) return refuse(response, 413, 'content length too large (>5242880)');
    if (!parts.withinRate()) {
      statistics.limited();
      if (parts.latencyMs > 0 && !(await parts.timers.sleep(parts.latencyMs))) return;
      response.setHeader('retry-after', '1');
      return refuse(response, 429, 'too many requests');
    }
    const prepared = prepare(parts, body, request.url ?? '/');
    if (parts.latencyMs > 0 && !(await parts.timers.sleep(parts.latencyMs))) return;
    await deliver(parts, request, response, prepared);
  };
}

function refusal(request: IncomingMessage): [status: number, message: string] | undefined {
  // geth answers an empty GET with 200, for health checks.
  if (request.method === 'GET') return [200, ''];
  if (request.method !== 'POST') return [405, 'method not allowed'];
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) {
    return [415, 'invalid content type, only application/json is supported'];
  }
  return undefined;
}

function refuse(response: ServerResponse, status: number, message: string, type = 'text/plain'): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(message) });
  response.end(message);
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MAX_REQUEST_BYTES) chunks.push(chunk);
  }
  return length > MAX_REQUEST_BYTES ? undefined : Buffer.concat(chunks, length);
}

function prepare(parts: AnsweringParts, body: Buffer, path: string): Prepared {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString());
  } catch {
    return { text: envelope(null, failure(-32700, 'parse error')), transport: [] };
  }
  if (!Array.isArray(parsed)) {
    parts.statistics.called([getMethod(parsed)]);
    return prepareOne(parts, parsed, path);
  }
  parts.statistics.called(parsed.map(getMethod));
  if (parsed.length === 0) return { text: envelope(null, failure(-32600, 'empty batch')), transport: [] };
  if (parsed.length > parts.maxBatch) {
    const first = envelope((parsed[0] as RpcCall | null)?.id, failure(-32600, 'batch too large'));
    return { text: batchEnvelope([first]), transport: [] };
  }
  const all = parsed.map((call) => prepareOne(parts, call, path));
  return {
    text: batchEnvelope(all.map(({ text }) => text)),
    transport: all.flatMap(({ transport }) => transport),
  };
}

function getMethod(call: unknown): string {
  return String((call as RpcCall | null)?.method);
}

function prepareOne({ state, faults, observe }: AnsweringParts, sent: unknown, path: string): Prepared {
  const { id, method, params = [] } = (sent ?? {}) as Partial<RpcCall>;
  if (typeof method !== 'string' || !Array.isArray(params)) {
    return { text: envelope(id, failure(-32600, 'invalid request')), transport: [] };
  }
  const call = prepareCall(state, { method, params });
  const striking = faults.strike({ method, block: call.block, key: JSON.stringify(params) });
  observe({ method, params, block: call.block, path, faults: striking.map((rule) => rule.do) });
  let answer = call.answer(call.block);
  for (const rule of striking) answer = applyResultFault(rule, answer, call);
  return {
    text: envelope(id, answer),
    transport: striking.filter(({ do: kind }) => (TRANSPORT_FAULTS as readonly FaultKind[]).includes(kind)),
  };
}

async function deliver(
  { statistics, timers, line }: AnsweringParts,
  request: IncomingMessage,
  response: ServerResponse,
  { text, transport }: Prepared,
): Promise<void> {
  let cutAt: number | undefined;
  let ends = false;
  for (const rule of transport) {
    const ms = rule.ms ?? 1000;
    if (rule.do === 'slow' && !(await timers.sleep(ms))) return;
    if (rule.do === 'hang') return;
    if (rule.do === 'reset') return void request.socket.resetAndDestroy();
    if (rule.do === 'html') return refuse(response, 200, HTML, 'text/html');
    if (rule.do === 'http500') return refuse(response, 500, 'internal server error');
    if (rule.do === 'http429') {
      response.setHeader('retry-after', String(Math.ceil(ms / 1000)));
      return refuse(response, 429, 'too many requests');
    }
    if (rule.do === 'truncate' || rule.do === 'stall') cutAt = Math.floor(text.byteLength / 2);
    ends ||= rule.do === 'truncate';
  }
  statistics.sent(await sendText(response, text, { line, cutAt }));
  // What was written must leave before the connection ends, or the client would see a reset instead of half a body.
  if (ends) response.write('', () => response.destroy());
}
