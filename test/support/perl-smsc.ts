import path from 'node:path';
import { PASSWORD } from './gateway-harness.js';
import { LineSmsc } from './line-smsc.js';

const SCRIPT = path.resolve('test/interop/net-smpp-smsc.pl');

/** A carrier on Net::SMPP. */
export class PerlSmsc extends LineSmsc {
  constructor(systemId = 'us') {
    super('perl', 'perl', [SCRIPT, systemId, PASSWORD]);
  }
}
