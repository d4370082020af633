import { format } from 'node:util';
import { createOnceAWhile } from './time/once-a-while.js';

/** A message that Node or a library would have printed on stderr. */
interface ForeignWarning {
  /** Node's name of the warning (`DeprecationWarning`), or `console.warn`, `console.error`. */
  source: string;
  /** For example `DEP0040`. */
  code: string | undefined;
  message: string;
}

/**
 * Captures what Node and libraries print on stderr: warnings (`(node:123) Warning: …`) and console output. Passes
 * each to `report` once per process; messages that differ only in numbers are the same.
 */
export function captureWarnings(host: NodeJS.Process, report: (warning: ForeignWarning) => void): void {
  const onceAWhile = createOnceAWhile(Number.POSITIVE_INFINITY, () => 0);
  const tell = (warning: ForeignWarning): void => {
    if (onceAWhile(`${warning.source} ${warning.code} ${warning.message}`).say) report(warning);
  };
  // Node's own listener is the one that prints.
  host.removeAllListeners('warning');
  host.on('warning', ({ name, message, code }: Error & { code?: string }) => {
    tell({ source: name, code, message });
  });
  for (const level of ['warn', 'error'] as const) {
    console[level] = (...words: unknown[]) => {
      tell({ source: `console.${level}`, code: undefined, message: format(...words) });
    };
  }
}
