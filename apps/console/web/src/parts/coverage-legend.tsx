import { REASONS } from '../lib/reasons.js';

/** The colours, letters and lines of the map, which takes its colours from here. */
export function CoverageLegend() {
  return (
    <details class="legend" open>
      <summary>Legend: worst reason per column; height: share of missing blocks</summary>
      <ul>
        <li>
          <span class="swatch published" data-reason="published" /> Published
        </li>
        {Object.entries(REASONS).map(([reason, { letter, label, meaning, acts }]) => (
          <li key={reason}>
            <span class={`swatch ${reason} ${acts ? 'acts' : ''}`} data-reason={reason} />{' '}
            <strong>{letter}</strong> {label}: {meaning}
          </li>
        ))}
        <li>
          <span class="swatch acts lines" /> Striped: needs action
        </li>
        <li>
          <span class="swatch unread" data-reason="unread" /> Loading
          <span class="ground" data-reason="ground" hidden />
        </li>
      </ul>
    </details>
  );
}
