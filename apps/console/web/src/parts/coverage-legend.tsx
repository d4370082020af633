import { REASONS } from '../lib/reasons.js';

/** What colours, letters and lines of the map mean; the map takes its colours from here. */
export function CoverageLegend() {
  return (
    <details class="legend" open>
      <summary>Legend: the worst reason of a column, as high as the share that is missing</summary>
      <ul>
        <li>
          <span class="swatch published" data-reason="published" /> published
        </li>
        {Object.entries(REASONS).map(([reason, { letter, meaning, acts }]) => (
          <li key={reason}>
            <span class={`swatch ${reason} ${acts ? 'acts' : ''}`} data-reason={reason} />{' '}
            <strong>{letter}</strong> {reason}: {meaning}
          </li>
        ))}
        <li>
          <span class="swatch acts lines" /> lines across it: stays so until somebody acts
        </li>
        <li>
          <span class="swatch unread" data-reason="unread" /> being read
          <span class="ground" data-reason="ground" hidden />
        </li>
      </ul>
    </details>
  );
}
