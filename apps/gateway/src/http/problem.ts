import { PROBLEM_REASONS, type ProblemReason } from './problem-reasons.js';

export interface ProblemOptions {
  /** One sentence for people; never a key, never text of the request that could hold one. */
  detail: string;
  /** Facts for programs, beside the standard members of the body. */
  members?: Readonly<Record<string, unknown>>;
  /** Headers of the answer. */
  headers?: Readonly<Record<string, string>>;
  cause?: unknown;
}

/** A refusal, thrown anywhere behind a route and answered as `application/problem+json` (RFC 9457). */
export class Problem extends Error {
  readonly reason: ProblemReason;
  readonly status: number;
  readonly members: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(reason: ProblemReason, options: ProblemOptions) {
    super(options.detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Problem';
    this.reason = reason;
    this.status = PROBLEM_REASONS[reason].status;
    this.members = options.members ?? {};
    this.headers = options.headers ?? {};
  }

  /** The body of the answer. */
  toBody(requestId: string): Record<string, unknown> {
    const { status, code, title } = PROBLEM_REASONS[this.reason];
    return {
      type: `urn:packhouse:problem:${this.reason}`,
      title,
      status,
      detail: this.message,
      reason: this.reason,
      code,
      requestId,
      ...this.members,
    };
  }
}
