import { createFetchDocument, type FetchDocument, type FetchPolicy } from './fetch-document.js';
import type { UriPolicy } from './token-document.js';

/** How a gateway refreshes tokens. */
export interface NftOptions {
  /** Whether documents at http: addresses are fetched as well. Default false. */
  allowHttp?: boolean | undefined;
  /** Addresses that end in a slash, tried in turn. Default https://ipfs.io/ipfs/. */
  ipfsGateways?: readonly string[] | undefined;
  /** Default https://arweave.net/. */
  arweaveGateways?: readonly string[] | undefined;
  /** For tests: there is no setting that lets strangers name private addresses. */
  testing?: Pick<FetchPolicy, 'resolve' | 'dial' | 'timeoutMs'> & { leaseMs?: number };
}

export const DEFAULT_IPFS_GATEWAY = 'https://ipfs.io/ipfs/';
export const DEFAULT_ARWEAVE_GATEWAY = 'https://arweave.net/';

/** What the options come to, the same for all networks. */
export function nftPolicy(options: NftOptions = {}): {
  uris: UriPolicy;
  fetchDocument: FetchDocument;
  leaseMs: number | undefined;
} {
  const allowHttp = options.allowHttp ?? false;
  const { leaseMs, ...hooks } = options.testing ?? {};
  return {
    uris: {
      allowHttp,
      ipfsGateways: options.ipfsGateways ?? [DEFAULT_IPFS_GATEWAY],
      arweaveGateways: options.arweaveGateways ?? [DEFAULT_ARWEAVE_GATEWAY],
    },
    fetchDocument: createFetchDocument({ allowHttp, ...hooks }),
    leaseMs,
  };
}
