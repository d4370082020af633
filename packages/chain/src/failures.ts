import { PackhouseError } from '@packhouse/runtime';
import type { Proof } from './proved-block.js';

const SHOWN_LENGTH = 100;

/** A value in a few words, for sentences and error data; never longer than about a line. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') {
    const quoted = JSON.stringify(value.slice(0, SHOWN_LENGTH));
    return value.length > SHOWN_LENGTH
      ? `${quoted} and ${value.length - SHOWN_LENGTH} more characters`
      : quoted;
  }
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`;
  return String(value);
}

/** Which record of which block a sentence speaks of; the block is null until its number could be read. */
export interface RecordPlace {
  block: number | null;
  /** `block`, `transaction 17`, `log 3`, … */
  record: string;
}

/** The error for a record that lacks a required field or has one of the wrong form. */
export function recordInvalid(
  place: RecordPlace,
  field: string,
  expected: string,
  got: unknown,
): PackhouseError {
  const block = place.block === null ? 'A block of unknown number' : `Block ${place.block}`;
  const what = place.record === 'block' ? field : `${place.record}, ${field}`;
  const shown = describeValue(got);
  return new PackhouseError({
    code: 'RECORD_INVALID',
    message: `${block}: ${what}: expected ${expected}, got ${shown}.`,
    hint: 'Another node may give the block as it should be.',
    data: { block: place.block, record: place.record, field, expected, got: shown },
  });
}

/** What a failed proof says. */
export interface FailedProof {
  block: number;
  proof: Proof;
  /** Path of the field from the block's answer, such as `receipts[3].logs[0].logIndex`. */
  field: string;
  expected: string;
  got: string;
  /** The sentence behind `Block 123: `. */
  message: string;
}

/** The error for data that disagrees with what the block header commits to, or with itself. */
export function proofFailed(failed: FailedProof): PackhouseError {
  const { block, proof, field, expected, got, message } = failed;
  return new PackhouseError({
    code: 'PROOF_FAILED',
    message: `Block ${block}: ${message}`,
    hint: 'Another node may give the block as it should be.',
    data: { block, proof, field, expected, got },
  });
}
