import { useState } from 'preact/hooks';
import { pluralize } from '../../lib/format.js';

/** Branches of a node that are shown, and characters of a text. */
const MAX_BRANCHES = 200;
const MAX_TEXT = 2_000;

/** A JSON value as a tree whose branches are made when they are opened. */
export function JsonTree({ name, value, open = false }: { name: string; value: unknown; open?: boolean }) {
  const [shown, setShown] = useState(open);
  if (typeof value !== 'object' || value === null) {
    const text = JSON.stringify(value) ?? 'undefined';
    return (
      <div class="leaf">
        <span class="faint">{name}:</span>{' '}
        <bdi>{text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)} …` : text}</bdi>
      </div>
    );
  }
  const entries = Object.entries(value);
  const size = pluralize(entries.length, Array.isArray(value) ? 'element' : 'field');
  return (
    <details class="tree" open={shown} onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary>
        {name} <span class="faint">({size})</span>
      </summary>
      {shown &&
        entries.slice(0, MAX_BRANCHES).map(([key, each]) => <JsonTree key={key} name={key} value={each} />)}
      {shown && entries.length > MAX_BRANCHES && <p>{entries.length - MAX_BRANCHES} more not shown.</p>}
    </details>
  );
}
