import { format } from 'node:util';
import { createOnceAWhile } from './once-a-while.js';

/** One thing that Node or a library would have printed on stderr. */
interface ForeignWarning {
  /** Node's name of it (`DeprecationWarning`), or `console.warn`, `console.error`. */
  source: string;
  /** Such as `DEP0040`. */
  code: string | undefined;
  message: string;
}

/**
 * Takes over what Node and libraries print on stderr by themselves: warnings (`(node:123) Warning: …`) and what they
 * write to the console. Each goes to `report` once in the life of the process; numbers in it do not make it another.
 */
export function captureWarnings(host: NodeJS.Process, report: (warning: ForeignWarning) => void): void {
  const onceAWhile = createOnceAWhile(Number.POSITIVE_INFINITY, Date.now);
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
