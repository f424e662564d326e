import { spawnSync } from 'node:child_process';
import { mkdirSync, statfsSync } from 'node:fs';

const SIZE_MIB = 12_288;
const MIB = 2 ** 20;

/** A file system of its own in memory (tmpfs), which a test can fill. Mounting needs root. */
export class BoundedDisk {
  private constructor(private readonly folder: string) {}

  /** Mounts it at this folder. Null where that is not permitted. */
  static mountAt(folder: string): BoundedDisk | null {
    mkdirSync(folder, { recursive: true, mode: 0o711 });
    const disk = new BoundedDisk(folder);
    return disk.mount(`size=${SIZE_MIB}m,mode=0711`) ? disk : null;
  }

  /** Leaves no room: writes that need more fail with ENOSPC, until it is emptied. */
  fill(): void {
    const { blocks, bfree, bsize } = statfsSync(this.folder);
    const usedMib = Math.ceil(((blocks - bfree) * bsize) / MIB);
    if (!this.mount(`remount,size=${usedMib + 1}m`)) throw new Error(`${this.folder} cannot be made smaller`);
  }

  free(): void {
    if (!this.mount(`remount,size=${SIZE_MIB}m`)) throw new Error(`${this.folder} cannot be made larger`);
  }

  unmount(): void {
    const { status, stderr } = spawnSync('umount', [this.folder], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${this.folder}: ${stderr}`);
  }

  private mount(options: string): boolean {
    return spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', this.folder], { stdio: 'ignore' }).status === 0;
  }
}
