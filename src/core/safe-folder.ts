/** What the file system says about a folder, or about a symbolic link on the way to it. */
export interface FolderFacts {
  /** False for a symbolic link as well: it may point elsewhere at any time. */
  readonly isFolder: boolean;
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}

/** The user that Baton runs as. */
export interface OwnUser {
  readonly uid: number;
  /** The group whose members may write; null when no group may. */
  readonly gid: number | null;
}

/** Why another user could control the content of a folder, as the end of a sentence. */
export const unsafeFolderReasons = {
  not_a_folder: 'it is not a folder',
  another_user: 'it belongs to another user',
  writable_by_others: 'other users may write to it',
  replaceable_by_others: 'other users may replace it',
} as const;

export type UnsafeFolder = keyof typeof unsafeFolderReasons;

const writableByAll = 0o002;
const writableByGroup = 0o020;
/** In a folder with this bit that others may write to, only the owner of an entry may remove it. */
const sticky = 0o1000;

/**
 * Whether only this user can write a folder and no one can put another in its place; null when it is safe. `above` are
 * the entries on the way to it; they may belong to root, as `/home` does.
 */
export function whyFolderUnsafe(
  folder: FolderFacts,
  above: readonly FolderFacts[],
  user: OwnUser,
): UnsafeFolder | null {
  if (!folder.isFolder) return 'not_a_folder';
  if (folder.uid !== user.uid) return 'another_user';
  if (isWritableByOthers(folder, user)) return 'writable_by_others';
  return above.some((entry) => letsOthersReplace(entry, user)) ? 'replaceable_by_others' : null;
}

function letsOthersReplace(entry: FolderFacts, user: OwnUser): boolean {
  if (entry.uid !== user.uid && entry.uid !== 0) return true;
  // The mode of a symbolic link means nothing.
  return entry.isFolder && isWritableByOthers(entry, user) && (entry.mode & sticky) === 0;
}

/** The primary group of a user is usually that user alone, and then folders are often writable by it. */
function isWritableByOthers({ mode, gid }: FolderFacts, user: OwnUser): boolean {
  return (mode & writableByAll) !== 0 || ((mode & writableByGroup) !== 0 && gid !== user.gid);
}
