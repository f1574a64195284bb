import type { KillPlan } from './kill-plan.ts';

const spawned = (pattern: string, when: KillPlan['when']): KillPlan => ({ at: 'spawn', pattern, when });
const file = (pattern: string, when: KillPlan['when']): KillPlan => ({ at: 'file', pattern, when });

/**
 * Points in the life cycle of a workspace, in order. Several plans are daemons killed one after the other; each finds
 * the state that the previous one left, and reaches its own point.
 */
export const killPointsInCreation: Readonly<Record<string, readonly KillPlan[]>> = {
  'while the repository is fetched for the first time': [
    spawned(' ls-remote ', 'after'),
    spawned(' fetch ', 'before'),
    spawned(' fetch ', 'after'),
    spawned(' fetch ', 'after_exit'),
    file('^rename .*/caches/.*\\+making$', 'before'),
    file('^rename .*/caches/.*\\+making$', 'after'),
  ],
  'while its files are checked out': [
    file('^writeFile .*\\+making\\+BAT-1$', 'after'),
    file('^mkdir .*/workspaces/BAT-1$', 'after'),
    spawned(' read-tree --reset -u ', 'before'),
    spawned(' read-tree --reset -u ', 'after'),
    spawned(' read-tree --reset -u ', 'after_exit'),
    file('^rename .*checkout\\.json\\+making$', 'before'),
  ],
  'after its record was written, during setup and before its marker is removed': [
    file('^rename .*checkout\\.json\\+making$', 'after'),
    spawned('setup-of-the-test', 'after'),
    spawned('setup-of-the-test', 'after_exit'),
    file('^rm .*\\+making\\+BAT-1$', 'before'),
    file('^rm .*\\+making\\+BAT-1$', 'after'),
  ],
};

export const killPointsInRemoval: Readonly<Record<string, readonly KillPlan[]>> = {
  'before it is renamed, and while its work is read': [
    spawned('before-remove-of-the-test', 'after_exit'),
    file('^writeFile .*\\+removing\\+BAT-1\\+1\\.json$', 'after'),
    file('^rename .*/workspaces/BAT-1$', 'before'),
    file('^rename .*/workspaces/BAT-1$', 'after'),
    spawned(' add -A ', 'before'),
    spawned(' add -A ', 'after'),
    spawned(' add -A ', 'after_exit'),
    spawned(' hash-object -t commit ', 'before'),
    spawned(' hash-object -t commit ', 'after_exit'),
  ],
  'while its work is saved': [
    spawned(' pack-objects ', 'after'),
    spawned(' pack-objects ', 'after_exit'),
    spawned(' index-pack ', 'before'),
    spawned(' index-pack ', 'after'),
    file('^rename .*tmp_pack_baton_', 'after'),
    spawned(' rev-list --objects ', 'after_exit'),
    spawned(' update-ref .*refs/baton/salvage', 'before'),
    spawned(' update-ref .*refs/baton/salvage', 'after'),
  ],
  'after its work was saved, and before, during and after its deletion': [
    spawned(' update-ref .*refs/baton/salvage', 'after_exit'),
    file('^rename .*\\+removing\\+BAT-1\\+1$', 'before'),
    file('^rename .*\\+removing\\+BAT-1\\+1$', 'after'),
    file('^rename .*/checkouts/BAT-1-', 'before'),
    file('^rename .*/checkouts/BAT-1-', 'after'),
    file('^rm .*\\+deleting\\+BAT-1\\+1$', 'before'),
    file('^rm .*\\+deleting\\+BAT-1\\+1$', 'after'),
    file('^rm .*\\+removing\\+BAT-1\\+1\\.json$', 'before'),
  ],
};

/** A few points, for the other strategies. */
export const killPointsInAnyRemoval: readonly KillPlan[] = [
  file('^rename .*/workspaces/BAT-1$', 'after'),
  spawned(' add -A ', 'after_exit'),
  file('^rename .*tmp_pack_baton_', 'after'),
  spawned(' update-ref .*refs/baton/salvage', 'after_exit'),
  file('^rename .*\\+removing\\+BAT-1\\+1$', 'after'),
  file('^rm .*\\+deleting\\+BAT-1\\+1$', 'before'),
];

export const killPointsInPublication: readonly KillPlan[] = [
  spawned(' fetch .*/scratch/publish-', 'before'),
  spawned(' fetch .*/scratch/publish-', 'after'),
  spawned(' fetch .*/scratch/publish-', 'after_exit'),
  spawned(' update-ref --create-reflog ', 'before'),
  spawned(' update-ref --create-reflog ', 'after'),
  spawned(' update-ref --create-reflog ', 'after_exit'),
  // The first is the checkout itself, which exists since the first daemon.
  file('^rename .*checkout\\.json\\+making$', 'before'),
];
