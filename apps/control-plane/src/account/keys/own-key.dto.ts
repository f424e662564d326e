import { PickType } from '@nestjs/swagger';
import { KeyDraft } from '../../admin/keys/key.dto.js';

/** The body of POST /v1/account/keys. The key is of the mode of the caller's, and has its limits. */
export class OwnKeyDraft extends PickType(KeyDraft, ['name', 'scopes']) {}
