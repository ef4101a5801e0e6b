/// The schemes of the common CDNs and object stores, each from its maker's public documentation.
extension SignatureScheme {
    /// All of them; what `KeyPolicy.unsigned` knows.
    public static let common: [SignatureScheme] =
        [.cloudFront, .amazonV4, .amazonV2, .googleV4, .googleV2, .googleCDN, .azure] + akamai + alibaba + tencent
        + tokenAndExpiry

    /// Amazon CloudFront, canned and custom policies.
    /// (docs.aws.amazon.com: AmazonCloudFront, "Create a signed URL using a canned policy" and "… a custom policy".)
    public static let cloudFront = SignatureScheme(
        needs: ["Signature", "Key-Pair-Id"], companions: ["Expires", "Policy", "Hash-Algorithm"])

    /// Amazon S3 and what speaks its language, Signature Version 4. `versionId` and `response-*` stay.
    /// (docs.aws.amazon.com: S3 API, "Authenticating Requests: Using Query Parameters (AWS Signature Version 4)".)
    public static let amazonV4 = SignatureScheme(
        needs: ["X-Amz-Signature"],
        companions: [
            "X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-SignedHeaders",
            "X-Amz-Security-Token", "X-Amz-Content-Sha256",
        ])

    /// Amazon S3, Signature Version 2.
    /// (docs.aws.amazon.com: S3 API, "Signing and authenticating REST requests", query string authentication.)
    public static let amazonV2 = SignatureScheme(
        needs: ["AWSAccessKeyId", "Signature", "Expires"], companions: ["x-amz-security-token"])

    /// Google Cloud Storage, V4. `generation` stays.
    /// (cloud.google.com/storage: "Signed URLs", canonical request's query string.)
    public static let googleV4 = SignatureScheme(
        needs: ["X-Goog-Signature"],
        companions: [
            "X-Goog-Algorithm", "X-Goog-Credential", "X-Goog-Date", "X-Goog-Expires", "X-Goog-SignedHeaders",
            "X-Goog-Content-SHA256",
        ])

    /// Google Cloud Storage, V2. (cloud.google.com/storage: "V2 signing process".)
    public static let googleV2 = SignatureScheme(needs: ["GoogleAccessId", "Expires", "Signature"])

    /// Google Cloud CDN. (cloud.google.com/cdn: "Use signed URLs".)
    public static let googleCDN = SignatureScheme(
        needs: ["KeyName", "Signature", "Expires"], companions: ["URLPrefix"])

    /// Azure Storage, shared access signatures of account, service and user delegation. `snapshot`, `versionid` and the
    /// fields that change the answer's head stay.
    /// (learn.microsoft.com/rest/api/storageservices: "Create an account SAS", "… a service SAS", "… a user delegation
    /// SAS".)
    public static let azure = SignatureScheme(
        needs: ["sv", "sig"],
        companions: [
            "ss", "srt", "sr", "sp", "st", "se", "sip", "spr", "si", "sdd", "ses", "saoid", "suoid", "scid", "skoid",
            "sktid", "skt", "ske", "sks", "skv",
        ])

    /// Akamai's tokens: each parameter is a whole signature. The names are those of its documentation and tools; nobody
    /// calls content so. (techdocs.akamai.com: "Auth Token 2.0 Verification", "Segmented Media Protection"; the EdgeAuth
    /// generators; `__gda__` of the first version.)
    public static let akamai: [SignatureScheme] = ["hdnts", "hdnea", "hdntl", "__token__", "__gda__"].map { name in
        SignatureScheme(needs: [name])
    }

    /// Alibaba Cloud CDN, type A (types B and C are in the path), and OSS, V1 and V4. `x-oss-process`, which makes other
    /// bytes of an object, stays.
    /// (alibabacloud.com/help: CDN, "Type A signing"; OSS, "V1 signatures in presigned URLs", "V4 signatures in presigned
    /// URLs".)
    public static let alibaba: [SignatureScheme] = [
        SignatureScheme(needs: ["auth_key"]),
        SignatureScheme(needs: ["OSSAccessKeyId", "Signature", "Expires"], companions: ["security-token"]),
        SignatureScheme(
            needs: ["x-oss-signature"],
            companions: [
                "x-oss-signature-version", "x-oss-credential", "x-oss-date", "x-oss-expires",
                "x-oss-additional-headers",
                "x-oss-security-token",
            ]),
    ]

    /// Tencent Cloud: CDN types A and D with their standard names, live streams, and COS.
    /// (tencentcloud.com/document: CDN 228/35222 "TypeA" and 228/35225 "TypeD"; "Live stream authentication" for `txSecret`
    /// and `txTime`; COS "Request signature" for `q-*`.)
    public static let tencent: [SignatureScheme] = [
        SignatureScheme(needs: ["sign": .stampedDigest]),
        SignatureScheme(needs: ["sign": .digest, "t": .time]),
        SignatureScheme(needs: ["txSecret", "txTime"]),
        SignatureScheme(
            needs: ["q-signature"],
            companions: [
                "q-sign-algorithm", "q-ak", "q-sign-time", "q-key-time", "q-header-list", "q-url-param-list",
                "x-cos-security-token",
            ]),
    ]

    /// A token and the time it runs out, as many servers and smaller CDNs have it. (nginx.org: `secure_link` with `md5`
    /// and `expires`; docs.bunny.net: "Token authentication" with `token` and `expires`; the other names are common ones.)
    public static let tokenAndExpiry: [SignatureScheme] = ["token", "md5", "sign", "sig", "signature", "st"].flatMap {
        token in
        ["expires", "expire", "expiry", "exp", "e"].map { expiry in
            SignatureScheme(needs: [token: .token, expiry: .time])
        }
    }
}
