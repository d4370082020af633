import { findQuotedNetwork, makeQuote } from '@packhouse/operations';
import type { QuoteRequest } from '@packhouse/pipeline';
import { withDatabase } from '../../installation/connect.js';
import { commandContext } from '../../installation/context.js';
import { findNetworks } from '../../installation/find-networks.js';
import { type CliIo, print } from '../../terminal/io.js';
import { quoteLines } from './quote-lines.js';

export interface QuoteOptions extends QuoteRequest {
  network: string;
  json?: boolean | undefined;
  dataDir?: string | undefined;
}

/** Prints the cost of a backfill; changes nothing. */
export async function showQuote(io: CliIo, options: QuoteOptions): Promise<void> {
  const context = commandContext(io);
  const network = findQuotedNetwork(await findNetworks(io, options.dataDir), options.network);
  await withDatabase(io, options, async (database) => {
    const { blocksPerSecond, ...made } = await makeQuote({ context, database, network }, options);
    if (options.json) await print(io, { ...made, blocksPerSecond });
    else await print(io, quoteLines(made, blocksPerSecond));
  });
}
