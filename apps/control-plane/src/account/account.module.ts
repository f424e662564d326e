import { Module } from '@nestjs/common';
import { OwnAccountController } from './own-account.controller.js';
import { OwnAccountService } from './own-account.service.js';
import { OwnBrandsController } from './brands/own-brands.controller.js';
import { OwnBrandsService } from './brands/own-brands.service.js';
import { OwnKeysController } from './keys/own-keys.controller.js';
import { OwnKeysService } from './keys/own-keys.service.js';
import { RequestLogService } from './requests/request-log.service.js';
import { RequestLogSweeper } from './requests/request-log.sweeper.js';
import { RequestsController } from './requests/requests.controller.js';

/** `/v1/account`: what the developers of an account do themselves, with a key that has the scope `account`. */
@Module({
  controllers: [OwnAccountController, OwnKeysController, OwnBrandsController, RequestsController],
  providers: [OwnAccountService, OwnKeysService, OwnBrandsService, RequestLogService, RequestLogSweeper],
})
export class AccountModule {}
