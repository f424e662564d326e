import { AccountDirectory } from '@countersign/accounts/accounts';
import { AdminKeyDirectory } from '@countersign/accounts/admin-keys';
import { ServerKeys } from '@countersign/keys';
import { Inject, Injectable } from '@nestjs/common';
import { AdminAddresses } from './admin-addresses.js';
import { KeyUses } from './key-uses.js';
import type { Caller } from './route-access.js';

const ADMIN_KEY_PREFIX = 'csk_admin_';
const BEARER = /^Bearer +([\x21-\x7e]+)$/i;

/** Finds the holders of API keys and admin keys, and records that a key was used. */
@Injectable()
export class KeyAuthenticator {
  constructor(
    @Inject(AccountDirectory) private readonly accounts: Pick<AccountDirectory, 'authenticate'>,
    @Inject(AdminKeyDirectory) private readonly adminKeys: Pick<AdminKeyDirectory, 'authenticate'>,
    private readonly keys: ServerKeys,
    @Inject(AdminAddresses) private readonly addresses: Pick<AdminAddresses, 'has'>,
    @Inject(KeyUses) private readonly uses: Pick<KeyUses, 'onAuthenticated'>,
  ) {}

  /**
   * The caller; null without a valid key. From an address outside ADMIN_ALLOWED_CIDRS an admin key is treated as an unknown
   * key. Rejects with DatabaseUnavailable.
   */
  async authenticate(authorization: string | undefined, clientAddress: string): Promise<Caller | null> {
    const caller = await this.find(authorization, clientAddress);
    if (caller !== null) this.uses.onAuthenticated(caller);
    return caller;
  }

  /** Digests of the key in hex, one for each version of the master key. */
  digestsOf(authorization: string): string[] {
    return this.keys.digests('api-key', keyOf(authorization) ?? '').map((digest) => digest.toString('hex'));
  }

  private find(authorization: string | undefined, clientAddress: string): Promise<Caller | null> | null {
    const key = keyOf(authorization);
    if (key === undefined) return null;
    if (!key.startsWith(ADMIN_KEY_PREFIX)) return this.accounts.authenticate(key);
    if (!this.addresses.has(clientAddress)) return null;
    return this.adminKeys.authenticate(key);
  }
}

const keyOf = (authorization: string | undefined): string | undefined => BEARER.exec(authorization ?? '')?.[1];
