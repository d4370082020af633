import { useEffect, useRef, useState } from 'preact/hooks';
import type { Answer } from '../../lib/answers.js';
import { getNow } from '../../lib/clock.js';
import { formatCount, formatTime, pluralize } from '../../lib/format.js';
import { ActionButton } from '../../parts/changes.js';
import { Chip } from '../../parts/chip.js';
import { Ago } from '../../parts/facts.js';
import { Empty } from '../../parts/states.js';

export type Hook = Answer<'hooks'>['rows'][number];
export type Channel = Answer<'notifications'>[number];

/** How long a packer usually needs to send a test, in milliseconds. */
const TEST_WAIT_MS = 30_000;

/** Whether it gets what it is sent, in a word. */
export function StateChip({ row: { state, failingSince } }: { row: Hook | Channel }) {
  if (state === 'paused') {
    return (
      <Chip tone="off" icon="paused">
        Paused
      </Chip>
    );
  }
  if (state === 'quarantined') return <Chip tone="bad">Quarantined</Chip>;
  if (failingSince !== null) return <Chip tone="bad">Failing</Chip>;
  return <Chip tone="good">Active</Chip>;
}

/** Since when a receiver accepts nothing, and why, and when it is tried again. */
export function Failure({
  row: { state, failingSince, failures, lastError, dueAt },
}: {
  row: Hook | Channel;
}) {
  if (failingSince === null && lastError === null) return <span class="faint">none</span>;
  return (
    <>
      {lastError !== null && <bdi class="bad">{lastError}</bdi>}
      {failingSince !== null && (
        <span class="faint">
          {' '}
          {pluralize(failures, 'failure')} since {formatTime(failingSince)}
          {state === 'active' && dueAt !== null && `, next retry ${formatDue(dueAt)}`}
        </span>
      )}
    </>
  );
}

const formatDue = (at: string): string => (Date.parse(at) <= getNow() ? 'now' : formatTime(at));

/** How many it accepted, and when the last. */
export const Deliveries = ({ row: { delivered, deliveredAt } }: { row: Hook | Channel }) => (
  <>
    {formatCount(delivered)} accepted
    {deliveredAt !== null && (
      <span class="faint">
        , last <Ago at={deliveredAt} />
      </span>
    )}
  </>
);

/** A button that sends a test, and the outcome of the last one: a packer sends it, so it comes a little later. */
export function Test({ name, row }: { name: 'hooks/test' | 'notifications/test'; row: Hook | Channel }) {
  /** Of the test before the one that is waited for; undefined: none is waited for. */
  const [before, setBefore] = useState<string | null | undefined>(undefined);
  const [late, setLate] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const waits = before !== undefined && before === row.testedAt;
  const wait = (): void => {
    setBefore(row.testedAt);
    setLate(false);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setLate(true), TEST_WAIT_MS);
  };
  return (
    <>
      <ActionButton name={name} input={{ id: row.id }} done={wait}>
        Send test
      </ActionButton>{' '}
      <span role="status">
        {waits ? (
          late ? (
            <>
              Not sent yet. Check that <a href="#/workers">packers are running</a>.
            </>
          ) : (
            'Waiting for a packer to send it…'
          )
        ) : (
          row.testedAt !== null && <Outcome row={row} />
        )}
      </span>
    </>
  );
}

const Outcome = ({ row: { testedAt, testOutcome } }: { row: Hook | Channel }) => (
  <>
    <bdi class={testOutcome?.startsWith('Accepted') ? 'good' : 'bad'}>{testOutcome}</bdi>{' '}
    {testedAt !== null && (
      <span class="faint">
        <Ago at={testedAt} />
      </span>
    )}
  </>
);

/** Pauses it, or lets it go on. */
export const StateButton = ({
  name,
  row: { id, state },
}: {
  name: 'hooks/state' | 'notifications/state';
  row: Hook | Channel;
}) => (
  <ActionButton name={name} input={{ id, state: state === 'active' ? 'paused' : 'active' }}>
    {state === 'active' ? 'Pause' : 'Resume'}
  </ActionButton>
);

/** What viewers see instead. */
export const OperatorsOnly = () => (
  <Empty>
    Only operators and admins can see receivers, because their addresses may contain secrets. Ask an admin for
    another role.
  </Empty>
);
