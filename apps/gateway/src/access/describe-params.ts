import { redact } from '@packhouse/runtime';
import type { CallNotes } from '../http/exchange.js';
import { OTHER } from './admission.js';

/** Bytes of a body that is parsed again for the log. */
const MAX_BODY = 16_384;
/** Characters of all parameters, and of one text; values of one list. */
const MAX_TEXT = 1_000;
const MAX_STRING = 100;
const MAX_VALUES = 20;
/** Methods that are named of a request: of more it is not known whether the network offers them. */
const MAX_METHODS = 9;

/**
 * The parameters of the calls of a request, as JSON that is cut, without API keys and credentials. Null if its
 * calls were refused, or one is of no method that the network offers: that may have anything, such as a private key.
 */
export function describeParams(body: Buffer | undefined, calls: CallNotes | undefined): string | null {
  if (body === undefined || calls === undefined || calls.methods.length === 0) return null;
  if (calls.methods.length > MAX_METHODS || calls.methods.includes(OTHER.name)) return null;
  if (body.length > MAX_BODY) return `more than ${MAX_BODY} bytes`;
  const parsed: unknown = JSON.parse(body.toString('utf8').replace(/^\uFEFF/, ''));
  const params = Array.isArray(parsed) ? parsed.map(getParams) : getParams(parsed);
  const text = redact(JSON.stringify(cut(params)));
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

const getParams = (call: unknown): unknown => (call as { params?: unknown } | null)?.params ?? [];

function cut(value: unknown): unknown {
  if (typeof value === 'string') return value.length > MAX_STRING ? `${value.slice(0, MAX_STRING)}…` : value;
  if (Array.isArray(value)) {
    const more = value.length > MAX_VALUES ? [`… ${value.length - MAX_VALUES} more`] : [];
    return [...value.slice(0, MAX_VALUES).map(cut), ...more];
  }
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).slice(0, MAX_VALUES);
  return Object.fromEntries(fields.map(([name, each]) => [name.slice(0, MAX_STRING), cut(each)]));
}
