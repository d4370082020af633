import { PackhouseError } from '@packhouse/runtime';

/** The error of a signer whose key is not the current one. */
export function signingKeyChanged(keyId: string, current: string | null): PackhouseError {
  return new PackhouseError({
    code: 'SIGNING_KEY_CHANGED',
    message: `The signing key that is here is ${keyId}, but the manifest is signed with ${current === null ? 'none that this database knows' : `key ${current}`}.`,
    hint: 'Put the file of that key back; to go on with the one that is here, run `packhouse manifest rotate`: entries already signed stay valid.',
    data: { got: keyId, expected: current },
  });
}
