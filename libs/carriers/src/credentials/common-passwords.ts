/**
 * Passwords of 6 to 8 characters that are guessed first, in lower case: the most frequent ones of published lists,
 * keyboard patterns, and the defaults and examples of SMPP stacks and of SMPP 3.4 (`secret08`). Each has 3 or more
 * different characters; see `isCommonPassword`.
 */
export const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  `
  012345 0123456 01234567 098765 0987654 09876543 112233 11223344 123123 12312312 123123a 123321 12341234 123456
  1234567 12345678 1234567a 123456a 1234qwer 123654 123abc 123qwe 123qweas 124578 142536 147147 147258 147852 159357
  159753 1a2b3c 1a2b3c4d 1q2w3e 1q2w3e4 1q2w3e4r 1qaz2wsx 1qazxsw 1qazxsw2 246810 258456 314159 321321 321654 456123
  456456 456789 654321 741852 753951 7654321 789456 789654 789789 852456 852963 87654321 963852 987654 9876543
  98765432 a12345 a123456 a1234567 a1b2c3 a1b2c3d4 aa123456 abc123 abc1234 abc12345 abcabc abcd123 abcd1234 abcdef
  abcdefg abcdefgh access access14 account admin1 admin12 admin123 adminadm administ aggregat alexande amanda america
  andrea andrew angela angels anthony apples arsenal asd123 asdasd asdf123 asdf1234 asdfasdf asdfgh asdfghj asdfghjk
  ashley asterisk austin babygirl bailey banana barcelon baseball basketba batman bearer bearerbx beautifu benjamin
  blink182 bond007 bubbles buster butterfl camaro carrier carrier1 change changeit changem3 changeme charlie cheese
  chelsea chicken chocolat client client01 client1 client12 clients computer connect cookie corvette cowboy cowboys
  dallas daniel default default1 demo12 demo123 demo1234 demodemo diamond dragon dragon1 eagles esme123 esme1234
  esmeesme external falcon family ferrari flower foobar football freedom friends gateway gateway1 george gfhjkm ginger
  golden golfer guest1 guest123 hammer hannah harley heather hello1 hello123 hellohel hockey hunter hunter2 iloveyou
  internet jackson jasmin jasmine jasminsm jennifer jessica jordan jordan23 joseph joshua justin kannel kannel1
  kannel12 killer letmein letmein1 liverpoo login1 login123 london lovely loveme maggie manager marina martin master
  master1 matrix matthew melissa mercedes michael michelle mickey midnight monkey monkey1 monster mustang naruto
  nicole nirvana nothing oliver operator orange p4ssw0rd p4ssword p@ss123 p@ssw0rd p@ssword pa55w0rd pa55word pakistan
  partner pass12 pass123 pass1234 passpass passw0rd passwd passwor password passwort patrick peaches peanut pepper
  phoenix player pokemon porsche princess private provider purple q1w2e3 q1w2e3r4 qazwsx qazwsxed qazxsw qwaszx qwe123
  qweasd qweasdzx qweqwe qwer123 qwer1234 qwert1 qwert123 qwerty qwerty1 qwerty12 qwertyu qwertyui rabbit rainbow
  ranger receiver robert root123 root1234 rootroot samantha sample samsung sandbox scooter secret secret0 secret00
  secret01 secret08 secret1 secret12 secure server service shadow shadow1 silver simulato slayer smpp12 smpp123
  smpp1234 smpp34 smppclie smpppass smppserv smppsim smppsmpp smpptest smppuser sms123 sms1234 smsc123 smsc1234
  smscsim smscsmsc smsgate smsgw1 smspass snoopy soccer sparky spider starwars stupid summer sunshine superman support
  sydney sysadmin system system1 system12 taylor telecom tennis test01 test12 test123 test1234 teste1 tester testing
  testpass testtest testuser thomas thunder thx1138 tigger toor123 toortoor transmit trinity trustme trustno1 unknown
  user123 user1234 useruser vanilla victoria wasser welcome welcome1 whatever william willow winner winter wizard
  yankees yellow zaq12wsx zaq1zaq1 zaqxsw zxcasd zxcvbn zxcvbnm zxczxc
  `
    .split(/\s+/)
    .filter(({ length }) => length > 0),
);
