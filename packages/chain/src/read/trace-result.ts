import { member } from '../text/member.js';
import { addPair, countPresent, moreFields, NO_PAIRS, type Pairs } from './more-fields.js';
import type { Optional, Raw, Reader } from './reader.js';
import { RESULT_FIELDS } from './tables.js';
import type { TraceHints, TraceType } from './trace.js';

/** What a call or a creation came to, in canonical form. */
export interface TraceResult {
  /** The new contract of a creation. */
  created: string | undefined;
  output: string | undefined;
  /** The member of the trace, behind a comma; empty where there is none. */
  text: string;
}

const NONE: TraceResult = { created: undefined, output: undefined, text: '' };
const NULL: TraceResult = { created: undefined, output: undefined, text: ',"result":null' };

/**
 * Reads the result of a trace.
 *
 * A reverted call has `error` and, depending on the node, no result, a null, or an object with what was used and
 * returned; all three are kept as they are.
 */
export function readResult(
  reader: Reader,
  type: TraceType,
  value: unknown,
  failed: boolean,
  hints: TraceHints,
): TraceResult {
  if (value == null && (failed || type === 'suicide' || type === 'reward')) {
    return reader.missing(value) === null ? NULL : NONE;
  }
  if (type === 'suicide' || type === 'reward') reader.fail('result', 'no result', value);
  const raw = reader.object(value, 'result');
  if (failed) return readFailed(reader, raw);
  const gasUsed = reader.quantity(raw.gasUsed, 'result.gasUsed');
  if (type === 'call') {
    const output = reader.data(raw.output, 'result.output', hints.output);
    const more = moreFields(reader, raw, RESULT_FIELDS, 2, NO_PAIRS);
    const text = `,"result":{"gasUsed":"${gasUsed}","output":"${output}"${more}}`;
    return { created: undefined, output, text };
  }
  const created = reader.bytes(raw.address, 'result.address', 20);
  const code = reader.data(raw.code, 'result.code');
  const output = optionalData(reader, raw.output, 'result.output');
  const pairs: Pairs = ['address', `"${created}"`, 'code', `"${code}"`];
  const more = moreFields(reader, raw, RESULT_FIELDS, 1 + countPresent(raw.output), pairs);
  const text = `,"result":{"gasUsed":"${gasUsed}"${member('output', output)}${more}}`;
  return { created, output: undefined, text };
}

/** Of a call or creation that failed nothing is required, but what is there has its form. */
function readFailed(reader: Reader, raw: Raw): TraceResult {
  const gasUsed = reader.optionalQuantity(raw.gasUsed, 'result.gasUsed');
  const output = optionalData(reader, raw.output, 'result.output');
  const pairs: Pairs = [];
  addPair(pairs, 'address', reader.optionalBytes(raw.address, 'result.address', 20));
  addPair(pairs, 'code', optionalData(reader, raw.code, 'result.code'));
  const more = moreFields(reader, raw, RESULT_FIELDS, countPresent(raw.gasUsed, raw.output), pairs);
  const members = member('gasUsed', gasUsed) + member('output', output) + more;
  return { created: undefined, output: output ?? undefined, text: `,"result":{${members.slice(1)}}` };
}

function optionalData(reader: Reader, value: unknown, field: string): Optional<string> {
  return value == null ? reader.missing(value) : reader.data(value, field);
}
