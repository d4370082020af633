import { ERROR_CATALOGUE, type ErrorCode } from './catalogue.js';

/** The parts of an error; `message` is one sentence: what, where, expected, got. */
interface PackhouseErrorOptions {
  code: ErrorCode;
  message: string;
  /** Advice, as one sentence. */
  hint?: string | undefined;
  /** Facts for programs (block, range, upstream, …); never a secret. */
  data?: Record<string, unknown> | undefined;
  cause?: unknown;
  /** Overrides `retryable` of the catalogue. */
  retryable?: boolean | undefined;
}

/** The one error class: a code of the catalogue, a sentence, a hint and facts. */
export class PackhouseError extends Error {
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly hint: string | undefined;
  readonly data: Record<string, unknown>;

  constructor(options: PackhouseErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PackhouseError';
    this.code = options.code;
    this.retryable = options.retryable ?? ERROR_CATALOGUE[options.code].retryable;
    this.hint = options.hint;
    this.data = options.data ?? {};
  }

  /** The exit code of a process that ends because of this error. */
  get exitCode(): number {
    return ERROR_CATALOGUE[this.code].exitCode;
  }
}

/** Whether `error` is a PackhouseError, of the given code if one is named. */
export function isPackhouseError(error: unknown, code?: ErrorCode): error is PackhouseError {
  return error instanceof PackhouseError && (code === undefined || error.code === code);
}

/** Whether a provider's budget keeps a call back: a matter of time, no fault of a node, a block or a job. */
export function isBudgetError(error: unknown): error is PackhouseError {
  return isPackhouseError(error, 'BUDGET_EXHAUSTED') || isPackhouseError(error, 'BUDGET_UNAVAILABLE');
}

/** An error for the end of a process: unchanged if it is of the catalogue, else INTERNAL with the first line of its message. */
export function toFinalError(error: unknown, hint?: string): PackhouseError {
  if (error instanceof PackhouseError) return error;
  const said = describeError(error)
    .split('\n', 1)[0]
    ?.replace(/[.:]*$/, '');
  return new PackhouseError({
    code: 'INTERNAL',
    message: `Packhouse failed: ${said === '' ? 'no reason is known' : said}.`,
    hint,
    cause: error,
  });
}

/** One line for operators: the sentence, the hint, the code. Never a stack trace. */
export function describeError(error: unknown): string {
  if (error instanceof PackhouseError) {
    return `${error.message}${error.hint === undefined ? '' : ` ${error.hint}`} [${error.code}]`;
  }
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map(describeError).join('; ');
  }
  return error instanceof Error ? error.message : String(error);
}
