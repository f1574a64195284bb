import * as z from 'zod';
import { BatonError } from '../../../core/baton-error.ts';
import type { Ask } from '../../tracker.ts';
import type { CallLinear } from '../call/call-linear.ts';
import { userByEmailOperation, viewerOperation } from '../call/documents.ts';

const user = z.object({ id: z.string().min(1) });
const viewer = z.object({ viewer: user });
const users = z.object({ users: z.object({ nodes: z.array(user) }) });

/** The id of the user whose issues are worked on; null means the issues of all users. */
export interface AssigneeLookup {
  find(ask?: Ask): Promise<string | null>;
  /** Makes the next `find` ask again: the key may belong to another user by now. */
  forget(): void;
}

/** Resolves `assignee` of the workflow file to an id: `me` and an e-mail are looked up once, an id needs no lookup. */
export function createAssigneeLookup(assignee: string | null, call: CallLinear): AssigneeLookup {
  let known: string | null = null;
  const ask = async (assignee: string, how?: Ask): Promise<string> => {
    if (assignee.toLowerCase() === 'me') return (await call(viewerOperation, {}, viewer, how)).viewer.id;
    if (!assignee.includes('@')) return assignee;
    const filter = { email: { eqIgnoreCase: assignee } };
    const { nodes } = (await call(userByEmailOperation, { filter }, users, how)).users;
    const [found] = nodes;
    if (found !== undefined && nodes.length === 1) return found.id;
    throw new BatonError(
      'invalid_tracker_config',
      `Linear has no user with the e-mail address in tracker.provider.assignee.`,
      {
        details: { key: 'tracker.provider.assignee' },
      },
    );
  };
  return {
    find: async (how) => {
      if (assignee === null) return null;
      known ??= await ask(assignee, how);
      return known;
    },
    forget: () => {
      known = null;
    },
  };
}
