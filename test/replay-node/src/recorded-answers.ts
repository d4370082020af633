import { readFile } from 'node:fs/promises';
import { PackhouseError } from '@packhouse/runtime';
import { type Answer, failure, valueAnswer } from './answer.js';

/** What a node answered to a call; without `params` it stands for all calls of the method. */
export interface RecordedAnswer {
  method: string;
  params?: readonly unknown[];
  result?: unknown;
  error?: { code: number; message: string };
}

/** Returns the recorded answer to a call, if there is one: an exact one before one for all parameters. */
export type AnswerRecorder = (method: string, params: readonly unknown[]) => Answer | undefined;

/** Makes the look-up. */
export function recordedAnswers(answers: readonly RecordedAnswer[]): AnswerRecorder {
  const byCall = new Map<string, Answer>();
  const byMethod = new Map<string, Answer>();
  for (const { method, params, result, error } of answers) {
    const answer = error === undefined ? valueAnswer(result ?? null) : failure(error.code, error.message);
    if (params === undefined) byMethod.set(method, answer);
    else byCall.set(callName(method, params), answer);
  }
  return (method, params) => byCall.get(callName(method, params)) ?? byMethod.get(method);
}

function callName(method: string, params: readonly unknown[]): string {
  return `${method} ${JSON.stringify(params)}`;
}

/** Reads a file of recorded answers, a JSON array. Throws USAGE if it is none. */
export async function loadAnswers(path: string): Promise<RecordedAnswer[]> {
  const parsed = JSON.parse(await readFile(path, 'utf8')) as unknown;
  const isAnswer = (one: unknown): boolean =>
    typeof one === 'object' && one !== null && typeof (one as RecordedAnswer).method === 'string';
  if (Array.isArray(parsed) && parsed.every(isAnswer)) return parsed as RecordedAnswer[];
  throw new PackhouseError({
    code: 'USAGE',
    message: `${path} is no file of recorded answers: a JSON array of {"method", "params"?, "result"} is expected.`,
    hint: 'test/replay-node/recordings has some.',
  });
}
