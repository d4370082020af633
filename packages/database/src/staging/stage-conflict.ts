import { PackhouseError } from '@packhouse/runtime';

/**
 * A hash is not what its neighbours, or an earlier job, say it is. `number` is the block whose hash differs, `by` the
 * block that says what it should be, `published` whether a bundle does.
 */
export function stageConflict(options: {
  network: string;
  number: number;
  expected: string;
  got: string;
  where: string;
  by: number;
  published: boolean;
}): PackhouseError {
  const { network, number, expected, got, where, by, published } = options;
  return new PackhouseError({
    code: 'STAGE_CONFLICT',
    message: `Block ${number} of ${network} has hash ${expected} ${where}, and what is to be staged says ${got}.`,
    hint: 'The chain was reorganised, or a node follows another branch: it is fetched again.',
    data: { network, number, expected, got, by, published },
  });
}
