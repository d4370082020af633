import { z } from 'zod';
import { applicationField, findApplication } from '../applications/find-application.js';
import { noteChange } from '../operation/note-change.js';
import { change } from '../operation/operation.js';
import { refuseOfOwner } from '../operation/own-scope.js';
import { requireAdmin } from '../operation/require-admin.js';
import { readRestrictions, restrictionFields } from './key-restrictions.js';
import { isUnlimited } from './plans.js';

export const restrictApplication = change({
  name: 'applications/restrict',
  role: 'operator',
  owners: true,
  summary:
    'Sets restrictions of all keys of an application that are not revoked, at once; what is not given stays. Owners set origins and addresses.',
  input: z.object({ application: applicationField, ...restrictionFields }),
  run: async (parts, { application, maxLogRange, ...given }) => {
    const { methods, contracts } = given;
    refuseOfOwner(parts, { methods, contracts, maxLogRange });
    const found = await findApplication(parts, application);
    const terms = { ...readRestrictions(given), maxLogRange };
    const plans = await parts.database.plans.list();
    const unlimited = plans.filter(isUnlimited).map(({ name }) => name);
    const keys = await parts.database.applications.restrict(found.id, terms, (used) => {
      const plan = unlimited.find((name) => used.has(name));
      if (plan !== undefined)
        requireAdmin(parts, `A key of "${found.name}" has the unlimited plan "${plan}".`);
    });
    await noteChange(parts, `application ${found.name}`, 'restrict', null, { ...terms, keys });
    return { application: found.name, keys };
  },
});
