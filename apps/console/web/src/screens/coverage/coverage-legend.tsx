import { REASON_GROUPS, REASONS } from '../../lib/reasons.js';

const GROUPS = Object.entries(REASON_GROUPS).map(([group, label]) => {
  const reasons = Object.values(REASONS).filter((reason) => reason.group === group);
  return { group, label, reasons, acts: reasons.every(({ acts }) => acts) };
});

/** The colours and letters of the map, which takes its colours from here. */
export function CoverageLegend() {
  return (
    <section class="legend" aria-label="Legend">
      <ul>
        <li>
          <span class="swatch published" data-reason="published" /> Published
        </li>
        {GROUPS.map(({ group, label, reasons, acts }) => (
          <li key={group}>
            <span class={`swatch ${group} ${acts ? 'acts' : ''}`} data-reason={group} /> {label}:{' '}
            {reasons.map((reason, at) => (
              <span key={reason.letter} title={reason.meaning}>
                {at > 0 && ', '}
                {group !== 'quiet' && <strong>{reason.letter} </strong>}
                {reason.label.toLowerCase()}
              </span>
            ))}
          </li>
        ))}
        <li>
          <span class="swatch unread" data-reason="unread" /> Loading
          <span class="ground" data-reason="ground" hidden />
          <span class="letter" data-reason="letter" hidden />
        </li>
      </ul>
      <p class="faint">
        A column has the colour of its worst reason; its height is the share of missing blocks. Stripes need
        action.
      </p>
    </section>
  );
}
