import { type Label, readLabels } from './read-labels.js';
import type { Press } from './walk.js';

/** What is wrong after a press, and is not a fault of the console: a line of the press and of what is wrong. */
export const EXPECTED_FAULTS: readonly { fault: RegExp; reason: string }[] = [
  {
    fault: /^hook: button Remove in .* 404 .*\/api\/hooks\/show/,
    reason: 'news of the removal may have its page ask for it once more, before that is left',
  },
  {
    fault: /a Jobs in /,
    reason: 'the board of jobs is the page of another program, whose font is not fetched',
  },
  {
    fault: /button Estimate cost in |\/api\/backfills\/quote/,
    reason: 'it asks nodes, and those of the showcase are names only',
  },
];

/** Labels that no press is expected of, by the file that has them. */
const NOT_PRESSED: readonly (Label & { reason: string })[] = [
  { file: 'screens/shown-screen.tsx', label: 'Reload page', reason: 'shown if its code failed to load' },
  { file: 'screens/files/one-file.tsx', label: 'Opening…', reason: 'shown while a request runs' },
  { file: 'screens/backfills/quote.tsx', label: 'Estimating…', reason: 'shown while a request runs' },
  {
    file: 'screens/start/add-node.tsx',
    label: 'Test',
    reason: 'shown while no node is known: start.test.ts',
  },
  { file: 'parts/networks.tsx', label: 'Get started', reason: 'shown while there is no network' },
  {
    file: 'screens/backfills/new-backfill.tsx',
    label: 'Priority, owner, deadline and time windows',
    reason: 'shown in Get started while there is no backfill',
  },
];

/** The rooms of the files below a folder of `screens`, or of a file, that have other names than it. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  backfills: ['backfills', 'start'],
  keys: ['keys', 'plans', 'own', 'start'],
  receivers: ['hooks', 'notifications'],
};

/** What the sources have and nobody pressed, and exceptions that are none any more. */
export function findMissing(presses: readonly Press[]): string[] {
  const labels = readLabels();
  const isPressed = ({ file, label }: Label): boolean => {
    const folder = /^screens\/([\w-]+)/.exec(file)?.[1];
    const rooms = folder === undefined ? undefined : (ROOMS[folder] ?? [folder]);
    return presses.some(({ name, room }) => name === label && (rooms?.includes(room) ?? true));
  };
  const isExcepted = ({ file, label }: Label): boolean =>
    NOT_PRESSED.some((each) => each.file === file && each.label === label);
  return [
    ...labels
      .filter((each) => !isPressed(each) && !isExcepted(each))
      .map(({ file, label }) => `${file}: "${label}" was not pressed`),
    ...NOT_PRESSED.filter(
      (each) =>
        isPressed(each) || !labels.some(({ file, label }) => file === each.file && label === each.label),
    ).map(({ file, label }) => `${file}: "${label}" is no exception any more`),
  ];
}
