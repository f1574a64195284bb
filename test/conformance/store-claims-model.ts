import fc from 'fast-check';
import { expect } from 'vitest';
import type { IssueKey } from '../../src/store/issue-key.ts';
import type { Store } from '../../src/store/store.ts';

/** One claim as the rules have it, to compare the store with. */
interface Model {
  readonly key: IssueKey;
  generation: number;
  holder: { readonly owner: string; readonly isLive: boolean; readonly slotState: string | null } | null;
}

interface Act {
  readonly act: keyof typeof acts;
  readonly owner: string;
  readonly isShort: boolean;
  /** How far the given generation is behind the true one. */
  readonly behind: number;
  readonly slotState: string | null;
}

export const anyActs: fc.Arbitrary<Act[]> = fc.array(
  fc.record({
    act: fc.constantFrom('take', 'take', 'reclaim', 'renewAll', 'setSlot', 'verify', 'release'),
    owner: fc.constantFrom('a', 'b'),
    isShort: fc.boolean(),
    behind: fc.constantFrom(0, 0, 0, 1, -1),
    slotState: fc.constantFrom('Todo', 'Doing', null),
  }),
  { maxLength: 25 },
);

const at = 1_000;
const leaseOf = ({ isShort }: Act) => ({ at, leaseMs: isShort ? -60_000 : 3_600_000 });

/** Does the acts to an issue that nobody claimed yet, in a project of its own, and expects the rules of each answer. */
export async function expectRules(store: Store, list: readonly Act[], name: string): Promise<void> {
  const model: Model = { key: { project: `project ${name}`, issueId: name }, generation: 0, holder: null };
  for (const each of list) {
    await acts[each.act](store, model, each);
    expect(await store.claims.generation(model.key)).toBe(model.generation);
    expect(await store.claims.held(model.key.project, at)).toMatchObject(expectedHeld(model));
  }
}

function expectedHeld({ holder, generation }: Model): readonly object[] {
  if (holder === null) return [];
  return [{ owner: holder.owner, slotState: holder.slotState, generation, isExpired: !holder.isLive }];
}

const acts = {
  take: (store: Store, model: Model, each: Act) => take(store, model, each, false),

  reclaim: (store: Store, model: Model, each: Act) => take(store, model, each, true),

  renewAll: async (store: Store, model: Model, each: Act) => {
    const renewed = await store.claims.renewAll(model.key.project, each.owner, leaseOf(each));
    const isHolder = model.holder?.owner === each.owner;
    expect(renewed).toHaveLength(isHolder ? 1 : 0);
    if (isHolder && model.holder) model.holder = { ...model.holder, isLive: !each.isShort };
  },

  setSlot: async (store: Store, model: Model, each: Act) => {
    expect(await store.claims.setSlot(model.key, shownBy(model, each), each.slotState)).toBe(isHeldBy(model, each));
    if (isHeldBy(model, each) && model.holder) model.holder = { ...model.holder, slotState: each.slotState };
  },

  verify: async (store: Store, model: Model, each: Act) => {
    const verified = await store.transaction(({ claims }) => claims.verify(model.key, shownBy(model, each)));
    expect(verified).toBe(isHeldBy(model, each));
  },

  release: async (store: Store, model: Model, each: Act) => {
    expect(await store.claims.release(model.key, shownBy(model, each))).toBe(isHeldBy(model, each));
    if (isHeldBy(model, each)) model.holder = null;
  },
} as const;

async function take(store: Store, model: Model, each: Act, reclaim: boolean): Promise<void> {
  const { owner, slotState, isShort } = each;
  const taken = await store.claims.take(model.key, { owner, host: 'h', slotState, reclaim, ...leaseOf(each) });
  const mayTake = model.holder === null || !model.holder.isLive || (reclaim && model.holder.owner === owner);
  if (mayTake) {
    model.generation += 1;
    model.holder = { owner, isLive: !isShort, slotState };
  }
  expect(taken?.generation ?? null).toBe(mayTake ? model.generation : null);
}

function shownBy(model: Model, { owner, behind }: Act) {
  return { owner, generation: model.generation - behind };
}

function isHeldBy(model: Model, { owner, behind }: Act): boolean {
  return model.holder?.owner === owner && behind === 0;
}
