import { isIP } from 'node:net';
import { z } from 'zod';
import { ADDRESS_RANGES } from '../http/client-address.js';

/**
 * TRUST_PROXY: whose `X-Forwarded-For` is believed. A number of proxies in front of the gateway, or their addresses and
 * ranges; absent, the address of the connection is the client's.
 */
export function trustProxySetting() {
  return z
    .string()
    .transform((text) => (/^\d+$/.test(text) ? Number(text) : text.split(',').map((part) => part.trim())))
    .refine((value) => (typeof value === 'number' ? value >= 1 && value <= 16 : value.every(isAddress)))
    .optional()
    .describe(
      'how many proxies stand before the gateway, 1 to 16, or their addresses, e.g. 10.0.0.0/8,loopback (default: none is believed)',
    );
}

function isAddress(text: string): boolean {
  if (Object.hasOwn(ADDRESS_RANGES, text)) return true;
  const [address, bits, ...more] = text.split('/') as [string, string?];
  const family = isIP(address);
  if (family === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}
