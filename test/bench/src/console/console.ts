import { fillIndex } from '../fill-index.js';
import { FAST_LOAD } from '../filled-place.js';
import type { BenchOptions } from '../options.js';
import { openPlace } from '../place.js';
import type { BenchOutcome } from '../result.js';
import { fillInstallation } from './fill-installation.js';
import { measure } from './measure.js';
import { openPage } from './page.js';
import { SCREENS } from './screens.js';

/** How long the data of every screen of the console takes in a large installation. */
export async function benchConsole({ scope, rows, say }: BenchOptions): Promise<BenchOutcome[]> {
  const place = await openPlace(scope, FAST_LOAD);
  await place.database.networks.register({ id: 'net-000', chainId: 1 });
  say(`  filling the range index with ${rows.toLocaleString('en-US')} rows …`);
  const index = await fillIndex(place.url, 'net-000', rows);
  say('  filling the installation …');
  await fillInstallation(place.url, index);
  const page = await openPage(scope, place);
  const outcomes: BenchOutcome[] = [];
  for (const [name, steps] of Object.entries(SCREENS)) outcomes.push(await measure(page, name, steps));
  return outcomes;
}
