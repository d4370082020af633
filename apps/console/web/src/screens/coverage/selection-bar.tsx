import { useState } from 'preact/hooks';
import { formatBlocks, formatCount } from '../../lib/format.js';
import { useRead } from '../../lib/hooks/use-read.js';
import { toHref } from '../../lib/route.js';
import { ActionButton, MayChange } from '../../parts/changes.js';
import { Copy } from '../../parts/copy.js';
import type { CoverageMap } from './map/coverage-map.js';
import type { View } from './map/coverage-view.js';

/** Default of a command that this page does not know better. */
const GATEWAY = 'https://GATEWAY';

/** What to do with the selected blocks: each leads to a form, or a command, with the range filled in. */
export function SelectionBar(props: {
  map: CoverageMap;
  selected: View;
  clear: () => void;
  zoom: () => void;
}) {
  const { map, selected, clear, zoom } = props;
  const { from, to } = selected;
  const { network } = map;
  const [command, show] = useState<'pull' | 'repair' | null>(null);
  const quarantined = useRead(
    'coverage/holes',
    { network, from, to, reasons: 'quarantined', limit: 100 },
    15_000,
  );
  const held = quarantined.value?.holes.reduce((sum, hole) => sum + hole.to - hole.from + 1, 0) ?? 0;
  const range = `--from ${from} --to ${to}`;
  const toggle = (next: 'pull' | 'repair') => (): void => show(command === next ? null : next);
  return (
    <section class="bulk" aria-label="Selected blocks">
      <strong>
        {from === to ? 'Block' : 'Blocks'} {formatBlocks(selected)}
      </strong>
      <span class="faint">{formatCount(to - from + 1)} selected</span>
      <MayChange>
        <a class="main" href={toHref('backfills/new', { network, from, to })}>
          Backfill
        </a>
      </MayChange>
      {held > 0 && (
        <ActionButton name="quarantine/retry" input={{ network, from, to }}>
          {`Retry ${formatCount(held)} quarantined`}
        </ActionButton>
      )}
      <button type="button" aria-expanded={command === 'repair'} onClick={toggle('repair')}>
        Repair
      </button>
      <button type="button" aria-expanded={command === 'pull'} onClick={toggle('pull')}>
        Pull
      </button>
      <button type="button" onClick={zoom}>
        Zoom to selection
      </button>
      <button type="button" class="bare" onClick={clear}>
        Clear
      </button>
      {command === 'pull' && (
        <Copy
          label="the line for pull"
          text={`packhouse pull ${GATEWAY}/${network} --kinds ${map.kinds.map(({ kind }) => kind).join(',')} ${range} --out ${network}`}
        />
      )}
      {command === 'repair' && (
        <Copy label="the line for audit" text={`packhouse audit --network ${network} ${range} --repair`} />
      )}
    </section>
  );
}
