import { hide } from "../values.mjs";

const lines = (all) => all.map(hide).join("\n");
const pem = (name, all) => `-----BEGIN ${name}-----\n${lines(all)}\n-----END ${name}-----`;
const RSA = "MIIEpAIBAAKCAQEA";
const rsa = (v) => [`${RSA}${v.base64(36)}`, ...v.body(400)];
const quoted = (words) => words.map((word) => `"${hide(word)}"`).join(", ");

/** Keys, seeds, cookies and signatures: `family: variant`, with the text that shows one. */
export const KEYS = {
  "wif: prose": (v) => `This is the key of my wallet: ${hide(v.wif(128, true))}`,
  "wif: call": (v) => `bitcoin-cli importprivkey "${hide(v.wif(128, true))}" "cold" false`,
  "wif: uncompressed": (v) => `wallet.import('${hide(v.wif(128, false))}')`,
  "wif: testnet": (v) => `const pair = ECPair.fromWIF("${hide(v.wif(239, true))}", testnet);`,
  "wif: testnet uncompressed": (v) => `wif: ${hide(v.wif(239, false))}`,
  "wif: litecoin": (v) => `ltc ${hide(v.wif(176, true))}`,
  "wif: dogecoin": (v) => `doge key\n${hide(v.wif(158, true))}`,
  "wif: dump": (v) => `${hide(v.wif(128, true))} 2026-01-05T10:00:00Z label=cold # addr=${v.address()}`,
  "extended-key: bitcoin": (v) => `root: ${hide(v.extended("0488ade4"))}`,
  "extended-key: testnet": (v) => `descriptor wpkh(${hide(v.extended("04358394"))}/84h/1h/0h/0/*)`,
  "extended-key: segwit": (v) => `zprv of account 0 is ${hide(v.extended("04b2430c"))}`,
  "mnemonic: 12 in prose": (v) => `My seed is ${hide(v.mnemonic(12))} and nothing works.`,
  "mnemonic: 24 alone": (v) => `${hide(v.mnemonic(24))}`,
  "mnemonic: env": (v) => `MNEMONIC="${hide(v.mnemonic(12))}"`,
  "mnemonic: hardhat": (v) => `accounts: { mnemonic: "${hide(v.mnemonic(12))}", count: 10 },`,
  "mnemonic: code": (v) => `const wallet = Wallet.fromPhrase('${hide(v.mnemonic(12))}');`,
  "mnemonic: 15 with commas": (v) => `words: ${hide(v.mnemonic(15).replaceAll(" ", ", "))}`,
  "mnemonic: list": (v) => `seed = [${quoted(v.mnemonic(12).split(" "))}]`,
  "mnemonic: lines": (v) => `Write these down:\n${hide(v.mnemonic(18).replaceAll(" ", "\n"))}`,
  "mnemonic: numbered": (v) =>
    v
      .mnemonic(12)
      .split(" ")
      .map((word, index) => `${index + 1}. ${hide(word)}`)
      .join("\n"),
  "mnemonic: two lines": (v) => {
    const words = v.mnemonic(24).split(" ");
    return `${hide(words.slice(0, 12).join(" "))}\n${hide(words.slice(12).join(" "))}`;
  },
  "mnemonic: flag": (v) => `cast wallet import cold --mnemonic "${hide(v.mnemonic(12))}"`,
  "mnemonic: capitals": (v) => `recovery: ${hide(v.mnemonic(12).toUpperCase())}`,
  "ethereum-key: env": (v) => `PRIVATE_KEY=0x${hide(v.hex(64))}`,
  "ethereum-key: hardhat": (v) => `accounts: [\`0x${hide(v.hex(64))}\`], // privateKey`,
  "ethereum-key: flag": (v) => `forge script Deploy --rpc-url http://localhost:8545 --private-key ${hide(`0x${v.hex(64)}`)}`,
  "ethereum-key: anvil": (v) => `Private Keys\n==================\n(0) 0x${hide(v.hex(64))}\n(1) 0x${hide(v.hex(64))}`,
  "ethereum-key: wallet": (v) => `new ethers.Wallet("0x${hide(v.hex(64))}", provider)`,
  "solana-key: list": (v) => `[${hide(Array.from(v.bytes(64)).join(","))}]`,
  "solana-key: base58": (v) => `SOLANA_PRIVATE_KEY=${hide(v.base58(64))}`,
  "nostr: nsec": (v) => `nsec1${hide(v.text("qpzry9x8gf2tvdw0s3jn54khce6mua7l", 58))}`,
  "stellar: seed": (v) => `Keypair.fromSecret("S${hide(v.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 55))}")`,
  "age: identity": (v) => `# public key: age1qyqszqgp\nAGE-SECRET-KEY-1${hide(v.text("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58))}`,
  "wireguard: interface": (v) => `[Interface]\nAddress = 10.0.0.2/24\nPrivateKey = ${hide(v.base64(32))}`,
  "wireguard: preshared": (v) => `[Peer]\nPresharedKey = ${hide(v.base64(32))}\nAllowedIPs = 0.0.0.0/0`,
  "wireguard: genkey": (v) => `$ wg genkey\n${hide(v.base64(32))}`,
  "pem: rsa": (v) => pem("RSA PRIVATE KEY", rsa(v)),
  "pem: pkcs8": (v) => pem("PRIVATE KEY", [`MIIEvQIBADANBgkqhkiG9w0B${v.base64(30)}`, ...v.body(400)]),
  "pem: ec": (v) => pem("EC PRIVATE KEY", v.body(121)),
  "pem: encrypted": (v) => pem("ENCRYPTED PRIVATE KEY", v.body(300)),
  "pem: openssh": (v) => pem("OPENSSH PRIVATE KEY", v.body(300, 70)),
  "pem: pgp": (v) => pem("PGP PRIVATE KEY BLOCK", v.body(300)),
  "pem: indented": (v) => `tls.key: |\n${pem("RSA PRIVATE KEY", rsa(v)).replaceAll(/^/gm, "  ")}`,
  "pem: echo": (v) => `echo -e "${pem("PRIVATE KEY", v.body(200)).replaceAll("\n", "\\n")}" > key.pem`,
  "pem-json: google": (v) =>
    `{"type": "service_account", "private_key": "${pem("PRIVATE KEY", v.body(200)).replaceAll("\n", "\\n")}\\n"}`,
  "pem-env: one line": (v) => `JWT_PRIVATE_KEY="${pem("RSA PRIVATE KEY", rsa(v)).replaceAll("\n", "\\n")}"`,
  "pem-base64: env": (v) =>
    `SSH_KEY_B64=${hide(Buffer.from(`-----BEGIN OPENSSH PRIVATE KEY-----\n${v.body(200).join("\n")}`).toString("base64"))}`,
  "kubeconfig: key data": (v) =>
    `    client-key-data: ${hide(Buffer.from(`-----BEGIN RSA PRIVATE KEY-----\n${v.body(200).join("\n")}`).toString("base64"))}`,
  "kubeconfig: token": (v) => `users:\n- name: admin\n  user:\n    token: ${hide(v.jwt("RS256"))}`,
  "jwk: okp": (v) => `{"kty":"OKP","crv":"Ed25519","x":"${v.urlsafe(43)}","d":"${hide(v.urlsafe(43))}"}`,
  "jwk: oct": (v) => `{"kty":"oct","k":"${hide(v.urlsafe(43))}","alg":"HS256"}`,
  "putty: ppk": (v) => `PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 2\n${lines(v.body(80))}\nPrivate-MAC: ${v.hex(64)}`,
  "pkcs12: base64": (v) => `P12_BASE64=${hide(`MIIJ${v.base64(300)}`)}`,
  "aws: credentials": (v) => `[default]\naws_access_key_id = ${hide(v.awsId())}\naws_secret_access_key = ${hide(v.awsSecret())}`,
  "aws: env": (v) => `AWS_ACCESS_KEY_ID=${hide(v.awsId())} AWS_SECRET_ACCESS_KEY=${hide(v.awsSecret())} aws s3 ls`,
  "aws: sts": (v) =>
    `"Credentials": {"AccessKeyId": "${hide(v.awsId("ASIA"))}", "SecretAccessKey": "${hide(v.awsSecret())}", "SessionToken": "${hide(v.base64(200))}"}`,
  "aws: boto": (v) =>
    `boto3.client("s3", aws_access_key_id="${hide(v.awsId())}", aws_secret_access_key="${hide(v.awsSecret())}")`,
  "aws: csv": (v) => `Access key ID,Secret access key\n${hide(v.awsId())},${hide(v.awsSecret())}`,
  "aws: s3cfg": (v) => `access_key = ${hide(v.awsId())}\nsecret_key = ${hide(v.awsSecret())}`,
  "aws: positional": (v) => `mc alias set s3 https://s3.example.com ${hide(v.awsId())} ${hide(v.awsSecret())}`,
  "azure: storage": (v) =>
    `DefaultEndpointsProtocol=https;AccountName=app;AccountKey=${hide(v.base64(64))};EndpointSuffix=core.windows.net`,
  "azure: bus": (v) => `Endpoint=sb://app.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=${hide(v.base64(32))}`,
  "azure: sas": (v) =>
    `https://app.blob.core.windows.net/c/f.bin?sv=2022-11-02&se=2026-02-01&sr=b&sp=r&sig=${hide(encodeURIComponent(v.base64(32)))}`,
  "azure: principal": (v) =>
    `{"appId": "${v.uuid()}", "displayName": "ci", "password": "${hide(`${v.alnum(3)}8Q~${v.alnum(34)}`)}", "tenant": "${v.uuid()}"}`,
  "azure: instrumentation": (v) => `az login --service-principal -u ${v.uuid()} -p ${hide(v.made(30, 36))} --tenant ${v.uuid()}`,
  "google: refresh": (v) =>
    `{"client_id": "7.apps.googleusercontent.com", "client_secret": "${hide(v.alnum(24))}", "refresh_token": "${hide(`1//0${v.urlsafe(60)}`)}"}`,
  "signed-url: s3": (v) => `https://b.s3.amazonaws.com/a.zip?X-Amz-Expires=3600&X-Amz-Signature=${hide(v.hex(64))}`,
  "signed-url: gcs": (v) =>
    `https://storage.googleapis.com/b/a.zip?GoogleAccessId=a&Expires=1767&Signature=${hide(encodeURIComponent(v.base64(128)))}`,
  "signed-url: cloudfront": (v) =>
    `https://d1.cloudfront.net/a.mp4?Expires=1767&Signature=${hide(v.urlsafe(170))}&Key-Pair-Id=K2JCJMDEHXQW5F`,
  "jwt: bearer": (v) => `Authorization: Bearer ${hide(v.jwt())}`,
  "jwt: storage": (v) => `localStorage.setItem("session", "${hide(v.jwt())}")`,
  "jwt: curl output": (v) => `{"token":"${hide(v.jwt("RS256"))}"}`,
  "otp: uri": (v) => `otpauth://totp/app:anna?secret=${hide(v.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 32))}&issuer=app`,
  "otp: env": (v) => `TOTP_SECRET=${hide(v.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16))}`,
  "otp: call": (v) => `pyotp.TOTP("${hide(v.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 32))}").now()`,
  "otp: tool": (v) => `oathtool --totp -b ${hide(v.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 26))}`,
  "app-key: rails": (v) => `SECRET_KEY_BASE=${hide(v.hex(128))}`,
  "app-key: laravel": (v) => `APP_KEY=base64:${hide(v.base64(32))}`,
  "app-key: django": (v) =>
    `SECRET_KEY = 'django-insecure-${hide(v.text("abcdefghijklmnopqrstuvwxyz0123456789!@#%^&*(-_=+)", 50))}'`,
  "app-key: flask": (v) => `app.secret_key = b'${hide(v.text("ABCDEFGHIJKLMNOPabcdefghijklmnop0123456789_#]", 24))}'`,
  "app-key: jwt": (v) => `JWT_SECRET=${hide(v.key(48))}`,
  "app-key: fernet": (v) => `Fernet(b"${hide(v.base64(32).replaceAll("+", "-").replaceAll("/", "_"))}")`,
  "app-key: master": (v) => `$ cat config/master.key\n${hide(v.hex(32))}`,
  "app-key: hmac": (v) => `crypto.createHmac('sha256', '${hide(v.key(40))}').update(body)`,
  "app-key: next": (v) => `NEXTAUTH_SECRET="${hide(v.base64(32))}"`,
  "app-key: salt": (v) =>
    `define('AUTH_SALT', '${hide(v.text("ABCDEFGHIJabcdefghij0123456789!@#%^&*()-_[]{}~+=,.;:/?|", 64))}');`,
  "app-key: iv": (v) => `ENCRYPTION_KEY=${hide(v.hex(64))}\nENCRYPTION_IV=${v.hex(32)}`,
  "kubernetes: opaque": (v) => `apiVersion: v1\nkind: Secret\ntype: Opaque\ndata:\n  conn: ${hide(v.base64(24))}`,
  "kubernetes: docker": (v) => `data:\n  .dockerconfigjson: ${hide(v.base64(90))}`,
  "vault: unseal": (v) => `Unseal Key 1: ${hide(v.base64(33))}\nInitial Root Token: ${hide(`hvs.${v.alnum(24)}`)}`,
  "vault: ansible": (v) => `$ANSIBLE_VAULT;1.1;AES256\n${hide(v.hex(80))}\n${hide(v.hex(80))}`,
  "cookie: set": (v) => `Set-Cookie: session=${hide(v.alnum(40))}; Path=/; HttpOnly`,
  "cookie: request": (v) => `curl -b 'sid=${hide(v.urlsafe(32))}; theme=dark' http://localhost:3000/me`,
  "cookie: code": (v) => `requests.get(url, cookies={"sessionid": "${hide(v.lownum(32))}"})`,
  "cookie: jar": (v) => `example.com\tFALSE\t/\tTRUE\t1799999999\tauth_session\t${hide(v.alnum(40))}`,
  "cookie: csrf": (v) => `X-CSRF-Token: ${hide(v.base64(32))}`,
  "webhook: slack": (v) =>
    `curl -X POST ${hide(`https://hooks.slack.com/services/T${v.upnum(8)}/B${v.upnum(10)}/${v.alnum(24)}`)}`,
  "webhook: discord": (v) => `WEBHOOK=${hide(`https://discord.com/api/webhooks/${v.digits(18)}/${v.urlsafe(68)}`)}`,
  "webhook: generic": (v) => `url: https://hooks.example.com/in/${hide(v.alnum(40))}`,
  "registry: npm auth": (v) => `//registry.example.com/:_auth=${hide(v.base64(30))}`,
  "registry: npm password": (v) => `//registry.example.com/:_password="${hide(v.base64(24))}"`,
  "registry: cargo": (v) => `[registries.work]\ntoken = "${hide(v.alnum(35))}"`,
  "registry: composer": (v) => `{"http-basic": {"repo.example.com": {"username": "token", "password": "${hide(v.hex(40))}"}}}`,
  "registry: gem": (v) => `:rubygems_api_key: rubygems_${hide(v.hex(48))}`,
  "registry: pip": (v) => `pip install --index-url https://__token__:${hide(v.alnum(40))}@pypi.example.com/simple app`,
  "registry: sbt": (v) => `credentials += Credentials("Nexus", "repo.example.com", "ci", "${hide(v.made())}")`,
  "oauth: client": (v) => `GOOGLE_CLIENT_SECRET=${hide(v.alnum(24))}\nGITHUB_CLIENT_SECRET=${hide(v.hex(40))}`,
  "oauth: body": (v) => `grant_type=refresh_token&refresh_token=${hide(v.urlsafe(60))}&client_id=web`,
  "oauth: twitter": (v) => `oauth_token="${v.digits(10)}-${hide(v.alnum(40))}", oauth_token_secret="${hide(v.alnum(45))}"`,
  "oauth: code": (v) => `http://localhost:3000/callback?code=${hide(v.urlsafe(60))}&state=x`,
  "ssh-agent: fingerprint key": (v) => `DEPLOY_KEY=${hide(v.base64(48))}`,
  "sql-dump: token": (v) => `INSERT INTO api_tokens (user_id, token) VALUES (7, '${hide(v.hex(40))}');`,
  "reset-link: path": (v) => `https://app.example.com/reset-password/${hide(v.urlsafe(40))}`,
  "reset-link: query": (v) => `https://app.example.com/invite?token=${hide(v.hex(32))}`,
  "license: key": (v) => `license_key: "${hide(`${v.upnum(5)}-${v.upnum(5)}-${v.upnum(5)}-${v.upnum(5)}`)}"`,
  "unnamed-service: prefix": (v) => `client = Acme("acme_live_${hide(v.alnum(32))}")`,
  "unnamed-service: dashes": (v) => `fetch(url, { headers: { "x-functions-key": "${hide(v.alnum(54))}==" } })`,
  "unnamed-service: header": (v) => `curl -H "X-Auth-Token: ${hide(v.hex(32))}" http://10.0.0.4/api`,
};
