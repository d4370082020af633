import { z } from 'zod';
import { DEFAULT_ARWEAVE_GATEWAY, DEFAULT_IPFS_GATEWAY, type NftOptions } from './nft-policy.js';
import { readWebAddress } from './web-address.js';

/** A list of gateways' addresses, separated by commas. */
export function gatewaysSetting(scheme: string, example: string): z.ZodType<string[], string | undefined> {
  return z
    .string()
    .transform((text) => text.split(',').map((one) => one.trim()))
    .refine((all) => all.every(isGateway))
    .default([example])
    .describe(
      `addresses that stand for ${scheme}, ending in a slash, ports 80 and 443, tried in turn and separated by commas (default ${example})`,
    );
}

/** What documents of tokens are fetched through. */
export const nftSettings = {
  NFT_IPFS_GATEWAY: gatewaysSetting('ipfs://', DEFAULT_IPFS_GATEWAY),
  NFT_ARWEAVE_GATEWAY: gatewaysSetting('ar://', DEFAULT_ARWEAVE_GATEWAY),
  NFT_ALLOW_HTTP: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe(
      'whether documents of tokens are also fetched from http: addresses, true or false (default false)',
    ),
};

function isGateway(text: string): boolean {
  const read = readWebAddress(text, { allowHttp: true });
  return 'url' in read && read.url.search === '' && text.endsWith('/');
}

/** The options that the settings come to. */
export function nftOptionsOf(settings: {
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
