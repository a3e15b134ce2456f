/**
 * A resource that fencing tokens protect. It refuses a token smaller than the largest that it has seen, on reads as
 * well as on writes. A writer says which version it has read. If the writer of an accepted write has not read the last
 * version, it overwrites something that it has not seen. Then two holders have written at the same time, and `disorder`
 * counts this write.
 */
export class Register {
  largest = 0n;
  version = 0;
  accepted = 0;
  refused = 0;
  /** The number of writes that were accepted although they had not read the last version. */
  disorder = 0;

  /** Returns the version, or undefined if the token is refused. */
  read(token: bigint): number | undefined {
    if (token < this.largest) return undefined;
    this.largest = token;
    return this.version;
  }

  /** Returns the new version, or undefined if the token is refused. */
  write(token: bigint, base: number): number | undefined {
    if (token < this.largest) {
      this.refused++;
      return undefined;
    }
    this.largest = token;
    this.accepted++;
    if (base !== this.version) this.disorder++;
    return ++this.version;
  }
}
