import { KeyUse } from '@countersign/accounts/keys';
import { Database } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { FailureLog } from '../operations/failure-log.js';

/** Records when API keys were used. */
@Injectable()
export class ApiKeyUse extends KeyUse {
  constructor(database: Database, failures: FailureLog) {
    super({ database, onError: failures.about('recording uses of API keys') });
  }
}

/** Records when admin keys were used. */
@Injectable()
export class AdminKeyUse extends KeyUse {
  constructor(database: Database, failures: FailureLog) {
    super({ database, onError: failures.about('recording uses of admin keys'), table: 'admin_keys' });
  }
}
