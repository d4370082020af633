import { z } from 'zod';
import { createFetchDocument, type FetchDocument, type FetchPolicy } from './fetch-document.js';
import { readWebAddress, type UriPolicy } from './token-document.js';

/** How tokens are refreshed. */
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

const IPFS_GATEWAY = 'https://ipfs.io/ipfs/';
const ARWEAVE_GATEWAY = 'https://arweave.net/';

/** The options with their defaults, the same for all networks. */
export function nftPolicy(options: NftOptions = {}): {
  uris: UriPolicy;
  fetchDocument: FetchDocument;
  leaseMs: number | undefined;
} {
  const { allowHttp = false, ipfsGateways = [IPFS_GATEWAY], arweaveGateways = [ARWEAVE_GATEWAY] } = options;
  const { leaseMs, ...hooks } = options.testing ?? {};
  return {
    uris: { allowHttp, ipfsGateways, arweaveGateways },
    fetchDocument: createFetchDocument({ allowHttp, ...hooks }),
    leaseMs,
  };
}

/** The environment variables of the options. */
export const nftSettings = {
  NFT_IPFS_GATEWAY: gatewaysSetting('ipfs://', IPFS_GATEWAY),
  NFT_ARWEAVE_GATEWAY: gatewaysSetting('ar://', ARWEAVE_GATEWAY),
  NFT_ALLOW_HTTP: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe('whether token metadata is also fetched from http: addresses, true or false (default false)'),
};

/** The options from the settings. */
export function toNftOptions(settings: {
  NFT_ALLOW_HTTP: boolean;
  NFT_IPFS_GATEWAY: string[];
  NFT_ARWEAVE_GATEWAY: string[];
}): NftOptions {
  return {
    allowHttp: settings.NFT_ALLOW_HTTP,
    ipfsGateways: settings.NFT_IPFS_GATEWAY,
    arweaveGateways: settings.NFT_ARWEAVE_GATEWAY,
  };
}

/** A list of addresses of gateways, separated by commas. */
function gatewaysSetting(scheme: string, example: string): z.ZodType<string[], string | undefined> {
  return z
    .string()
    .transform((text) => text.split(',').map((one) => one.trim()))
    .refine((all) => all.every(isGateway))
    .default([example])
    .describe(
      `comma-separated gateways for ${scheme}, tried in turn; each ends in a slash and uses port 80 or 443 (default ${example})`,
    );
}

function isGateway(text: string): boolean {
  const read = readWebAddress(text, { allowHttp: true });
  return 'url' in read && read.url.search === '' && text.endsWith('/');
}
