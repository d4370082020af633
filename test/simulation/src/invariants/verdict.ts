/** The result of checking one invariant. */
export interface Verdict {
  /** Its number in SPEC.md. */
  invariant: number;
  /** The invariant, in a few words. */
  title: string;
  /** How many things were looked at: none would prove nothing. */
  checked: number;
  /** The counter-examples, the first ones only. */
  violations: string[];
}

const MOST = 10;

/** Collects counter-examples. */
export interface Findings {
  /** One more thing was looked at. */
  looked(times?: number): void;
  violated(text: string): void;
  verdict(): Verdict;
}

/** Starts with none. */
export function createFindings(invariant: number, title: string): Findings {
  const violations: string[] = [];
  let checked = 0;
  let hidden = 0;
  return {
    looked(times = 1) {
      checked += times;
    },
    violated(text) {
      if (violations.length < MOST) violations.push(text);
      else hidden += 1;
    },
    verdict: () => ({
      invariant,
      title,
      checked,
      violations: hidden === 0 ? violations : [...violations, `and ${hidden} more`],
    }),
  };
}
