import type { Connections } from '../connection/connections.js';
import { beginNftToken } from './begin-token.js';
import { claimNftJob } from './claim-job.js';
import { deleteOldNftJobs } from './delete-old-jobs.js';
import { endNftJob } from './end-job.js';
import { insertNftJobTokens } from './insert-job-tokens.js';
import type {
  LeasedNftJob,
  Nft,
  NftJobStatus,
  NftJobView,
  NftOutcome,
  NftTarget,
  NftTokenRow,
} from './nft.js';
import { openNftJob } from './open-job.js';
import { releaseNftJob } from './release-job.js';
import { renewNftJob } from './renew-job.js';
import { selectNftJob } from './select-job.js';
import { selectNftJobTokens } from './select-job-tokens.js';
import { selectNftToken } from './select-token.js';
import { selectNftWaiting } from './select-waiting.js';
import { settleNftToken } from './settle-token.js';

/** The part `nft` of the database. */
export function createNft(connections: Connections): Nft {
  /** Whether a statement that only the holder of a job may run changed anything. */
  const kept = async (...args: Parameters<Connections['query']>): Promise<boolean> =>
    (await connections.query(...args)).length > 0;
  return {
    open: async ({ id, network, application, maxOfApplication, recentAfter, ...target }) => {
      const [row] = await connections.query<OpenRow>(openNftJob, [
        ...[id, network, targetName(target), target.contract, target.owner, target.tokenId],
        ...[application, maxOfApplication, recentAfter],
      ]);
      return row ?? null;
    },
    view: async ({ id, network, application }) => {
      const [row] = await connections.query<ViewRow>(selectNftJob, [id, network, application]);
      if (row === undefined) return null;
      const { token_id: tokenId, created_at: createdAt, finished_at: finishedAt, ...rest } = row;
      return { ...rest, tokenId, createdAt, finishedAt };
    },
    tokens: async (id, after, limit) => {
      const rows = await connections.query<TokenRow>(selectNftJobTokens, [id, after, limit]);
      return rows.map(({ token_id: tokenId, asked_at: askedAt, ...rest }) => ({ ...rest, tokenId, askedAt }));
    },
    claim: async ({ networks, lease, leaseMs }) => {
      const [row] = await connections.query<Omit<LeasedNftJob, 'tokenId'> & { token_id: string | null }>(
        claimNftJob,
        [[...networks], lease, leaseMs],
      );
      if (row === undefined) return null;
      const { token_id: tokenId, ...rest } = row;
      return { ...rest, tokenId };
    },
    renew: (job, leaseMs) => kept(renewNftJob, [job.id, job.lease, leaseMs]),
    addTokens: (job, tokens, complete) =>
      kept(insertNftJobTokens, [
        ...[job.id, job.lease, complete],
        tokens.map(({ contract }) => contract),
        tokens.map(({ tokenId }) => tokenId),
      ]),
    waiting: async (job) => {
      const rows = await connections.query<Pick<TokenRow, 'position' | 'contract' | 'token_id'>>(
        selectNftWaiting,
        [job.id],
      );
      return rows.map(({ position, contract, token_id: tokenId }) => ({ position, contract, tokenId }));
    },
    begin: async (job, position, { now, recentAfter }) => {
      const [row] = await connections.query<{ leave: 'mine' | 'recent' | 'busy' | 'lost' }>(beginNftToken, [
        ...[job.id, job.lease, position, now, recentAfter],
      ]);
      return row?.leave ?? 'lost';
    },
    settle: (job, position, { outcome, standard, uri, metadata }) =>
      kept(settleNftToken, [
        ...[job.id, job.lease, position, outcome, standard ?? null, uri ?? null, metadata ?? null],
      ]),
    release: (job, { delayMs, failed }) => kept(releaseNftJob, [job.id, job.lease, delayMs, failed ? 1 : 0]),
    end: (job, rest) => kept(endNftJob, [job.id, job.lease, rest]),
    token: async (network, { contract, tokenId }) => {
      const [row] = await connections.query<StoredToken>(selectNftToken, [network, contract, tokenId]);
      if (row === undefined) return null;
      const { token_id, asked_at: askedAt, indexed_at: indexedAt, ...rest } = row;
      return { ...rest, tokenId: token_id, askedAt, indexedAt };
    },
    sweep: async () => {
      await connections.query(deleteOldNftJobs, []);
    },
  };
}

/** One name of what a job refreshes; addresses and ids hold no spaces. */
function targetName({ contract, owner, tokenId }: NftTarget): string {
  if (owner !== null) return `owner ${owner}`;
  return tokenId === null ? `contract ${contract}` : `token ${contract} ${tokenId}`;
}

interface OpenRow {
  id: Buffer;
  status: NftJobStatus;
  made: boolean;
  tokens: number | null;
  recent: boolean;
}

interface ViewRow extends Omit<NftJobView, 'tokenId' | 'createdAt' | 'finishedAt'> {
  token_id: string | null;
  created_at: Date;
  finished_at: Date | null;
}

interface TokenRow {
  position: number;
  contract: string;
  token_id: string;
  outcome: NftOutcome | null;
  asked_at: Date | null;
  refreshed: boolean;
}

interface StoredToken extends Omit<NftTokenRow, 'tokenId' | 'askedAt' | 'indexedAt'> {
  token_id: string;
  asked_at: Date;
  indexed_at: Date | null;
}
